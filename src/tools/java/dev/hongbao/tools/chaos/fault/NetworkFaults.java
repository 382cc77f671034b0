package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.Member;
import dev.hongbao.tools.chaos.bed.RedisSide.Form;
import dev.hongbao.tools.local.LossyProxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;

/** What happens on the line between one server and a store, or its clients. */
final class NetworkFaults {
    private static final Line REDIS = new Line("redis", member -> Objects.requireNonNull(member.redis()), false);
    private static final Line POSTGRES = new Line("postgres", Member::postgres, false);
    private static final Line CLIENTS = new Line("clients", Member::clients, true);

    private NetworkFaults() {}

    /** @param answers whether the server's clients may be left without an answer */
    private record Line(String to, Function<Member, LossyProxy> of, boolean answers) {}

    private interface Change {
        void on(LossyProxy line, SplittableRandom random);
    }

    static List<FaultKind> of(Form form) {
        List<FaultKind> all = new ArrayList<>();
        for (Line line : form == Form.CLUSTER ? List.of(POSTGRES, CLIENTS) : List.of(REDIS, POSTGRES, CLIENTS)) {
            all.add(silent("cut", line, (proxy, random) -> proxy.fallSilent(), LossyProxy::comeBack));
            all.add(silent(
                    "requests lost", line, (proxy, random) -> proxy.loseRequestsSilently(), LossyProxy::comeBack));
            all.add(silent("answers lost", line, (proxy, random) -> proxy.loseAnswersSilently(), LossyProxy::comeBack));
            all.add(silent("half-open", line, (proxy, random) -> proxy.swallow(), proxy -> {}));
            all.add(silent("stalled", line, (proxy, random) -> proxy.stall(), LossyProxy::flow));
            all.add(loud(
                    "slow", line, (proxy, random) -> proxy.delay(5L + random.nextInt(200)), proxy -> proxy.delay(0)));
            all.add(loud("connections broken", line, (proxy, random) -> proxy.breakConnections(), proxy -> {}));
        }
        return all;
    }

    private static FaultKind silent(String what, Line line, Change change, Consumer<LossyProxy> mended) {
        return new FaultKind(
                "network to " + line.to + ": " + what, FaultKind.Cost.SILENCE, maker(line, change, mended));
    }

    private static FaultKind loud(String what, Line line, Change change, Consumer<LossyProxy> mended) {
        return new FaultKind("network to " + line.to + ": " + what, maker(line, change, mended));
    }

    private static FaultKind.Maker maker(Line line, Change change, Consumer<LossyProxy> mended) {
        return (name, bed, random) -> {
            Member member = ServerFaults.any(bed, random);
            LossyProxy proxy = line.of.apply(member);
            SplittableRandom own = random.split();
            return new Fault(
                    name,
                    "line " + member.number() + " " + line.to,
                    line.answers ? Set.of(member.number()) : Set.of(),
                    () -> change.on(proxy, own),
                    () -> {
                        mended.accept(proxy);
                        if (line.answers) {
                            proxy.breakConnections(); // a client that waits for nothing would wait for its whole time
                        }
                    });
        };
    }
}
