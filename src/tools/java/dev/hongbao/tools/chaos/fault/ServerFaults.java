package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.Member;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** What happens to a server's process. Each owns some shards and is a bystander of the others. */
final class ServerFaults {
    static final List<FaultKind> ALL = List.of(
            restart("server: kill -9", member -> member::kill, member -> member::start),
            restart("server: SIGTERM under load", member -> member::terminate, member -> member::start),
            new FaultKind(
                    "server: frozen", FaultKind.Cost.SILENCE, maker(member -> member::freeze, member -> member::thaw)),
            restart("server: out of memory", member -> member::exhaustHeap, member -> member::start),
            new FaultKind("server: its clock stepped", ServerFaults::stepped));

    private static final long MOST_STEP_MILLIS = TimeUnit.HOURS.toMillis(5);

    private ServerFaults() {}

    private static FaultKind restart(
            String named, Function<Member, Fault.Step> inject, Function<Member, Fault.Step> heal) {
        return new FaultKind(named, FaultKind.Cost.RESTART, maker(inject, heal));
    }

    private static FaultKind.Maker maker(Function<Member, Fault.Step> inject, Function<Member, Fault.Step> heal) {
        return (name, bed, random) -> {
            Member member = any(bed, random);
            return new Fault(name, place(member), Set.of(member.number()), inject.apply(member), heal.apply(member));
        };
    }

    /** Up to five hours ahead or behind. Nobody may be left without an answer for it. */
    private static Fault stepped(String name, ChaosBed bed, SplittableRandom random) {
        Member member = any(bed, random);
        long millis = random.nextLong(-MOST_STEP_MILLIS, MOST_STEP_MILLIS);
        return new Fault(name, place(member), Set.of(), () -> member.stepClock(millis), () -> member.stepClock(0));
    }

    static String place(Member member) {
        return "server " + member.number();
    }

    static Member any(ChaosBed bed, SplittableRandom random) {
        return bed.members().get(random.nextInt(bed.members().size()));
    }
}
