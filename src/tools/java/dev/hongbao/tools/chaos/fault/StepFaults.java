package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.Member;
import dev.hongbao.tools.chaos.fault.Fault.FaultMissedException;
import dev.hongbao.tools.chaos.fault.FaultKind.Cost;
import dev.hongbao.tools.local.Debugger.Act;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import redis.clients.jedis.Jedis;

/** A server ends or stands still exactly where a step of its work begins; or it leaves a step out, or takes it twice. */
final class StepFaults {
    private static final String DRAW = "dev.hongbao.draw.";
    private static final String ENGINE = "dev.hongbao.engine.";
    private static final String PACKET = "dev.hongbao.packet.";

    /** The load reaches a step within milliseconds. */
    private static final long LIMIT_MILLIS = 3_000;

    /** The beginning of a method. */
    record Step(String name, String type, String method) {}

    /** Work that always goes on, or that a provocation begins. */
    record Work(Provocation provocation, List<Step> steps) {
        Work(Step... steps) {
            this((bed, member) -> {}, List.of(steps));
        }
    }

    private interface Provocation {
        void of(ChaosBed bed, Member member) throws Exception;
    }

    private static final Work SETTLEMENT = new Work(
            new Step("accepted, not told to the writer", PACKET + "ClaimBatcher$ClaimScriptCall", "read"),
            new Step("before the commit", ENGINE + "CursorMoves", "send"),
            new Step("committed, not answered", PACKET + "ClaimSettler$Batch", "committed"),
            new Step("answered, the journal not trimmed", ENGINE + "SettlementLoop", "trim"));

    private static final Work RECOVERY = new Work(
            (bed, member) -> bed.redis().nodes.on(bed.redis().node(new SplittableRandom(0)), Jedis::scriptFlush),
            List.of(
                    new Step("the journal retired", ENGINE + "Recovery", "replace"),
                    new Step("the retired journal settled", "dev.hongbao.engine.ShardStore", "drawNext"),
                    new Step("the generation drawn", ENGINE + "Recovery", "prepare"),
                    new Step("the old keys gone", ENGINE + "Recovery", "load"),
                    new Step("half of the keys written", PACKET + "PacketShardLoader", "writeClaims"),
                    new Step("all but the scripts loaded", ENGINE + "Recovery", "loadScripts")));

    private static final Work HAND_OVER = new Work(
            (bed, member) -> member.server().terminate(),
            List.of(
                    new Step("the shards come to rest", ENGINE + "ShardSupervisor", "restedAll"),
                    new Step("the shards rest, their locks held", ENGINE + "OwnerLocks", "free")));

    private static final Work TAKE_OVER = new Work(
            (bed, member) -> bed.postgres().rows(Faults.OWNERS),
            List.of(new Step("the locks taken, nothing looked at", ENGINE + "ShardSupervisor", "acquired")));

    private static final Work COMMAND = new Work(
            new Step("a send committed, not loaded", PACKET + "PacketSender", "load"),
            new Step("a play's cost held, not played", DRAW + "PlayService$PlayAttempt", "attempt"),
            new Step("a play decided, not told to the writer", DRAW + "PlayBatcher$PlayScriptCall", "read"),
            new Step("a close in the journal, not settled", PACKET + "ClosePackets", "read"));

    private static final Step BUS = new Step("a message to other servers", "dev.hongbao.engine.RedisLine", "publish");

    static final List<FaultKind> ALL = List.of(
            halted("server: halted in a settlement", SETTLEMENT),
            halted("server: halted in a recovery", RECOVERY),
            halted("server: halted in a hand-over", HAND_OVER),
            halted("server: halted as it takes over", TAKE_OVER),
            halted("server: halted in a command", COMMAND),
            frozen("server: frozen in a settlement", SETTLEMENT),
            frozen("server: frozen in a recovery", RECOVERY),
            Faults.kind(
                    "bus: messages dropped",
                    Cost.LITTLE,
                    Faults::anyBystander,
                    (member, random) -> member.debugger().at(Act.LEAVE_OUT, BUS.type, BUS.method),
                    member -> member.debugger().goOn()),
            Faults.kind(
                    "bus: messages doubled",
                    Cost.LITTLE,
                    Faults::anyBystander,
                    (member, random) -> member.debugger().at(Act.RUN_TWICE, BUS.type, BUS.method),
                    member -> member.debugger().goOn()));

    static final List<Work> WORKS = List.of(SETTLEMENT, RECOVERY, HAND_OVER, TAKE_OVER, COMMAND, new Work(BUS));

    private StepFaults() {}

    private static FaultKind halted(String name, Work work) {
        return new FaultKind(
                name, Cost.RESTART, at(work, member -> member.server().kill(), member -> {
                    if (member.server().alive()) { // it did not reach the step
                        member.debugger().goOn();
                        if (work != HAND_OVER) {
                            return;
                        }
                        member.server().stop();
                    }
                    member.start();
                }));
    }

    private static FaultKind frozen(String name, Work work) {
        return new FaultKind(
                name,
                Cost.SILENCE,
                at(work, member -> {}, member -> member.debugger().goOn()));
    }

    private static FaultKind.Maker at(Work work, Faults.Heal<Member> atStep, Faults.Heal<Member> heal) {
        return (name, bed, random) -> {
            Member member = bed.any(random);
            Step step = work.steps.get(random.nextInt(work.steps.size()));
            return new Fault(
                    name,
                    Faults.place(member),
                    step.name,
                    Set.of(member.number),
                    () -> {
                        member.debugger().at(Act.STAND_STILL, step.type, step.method);
                        work.provocation.of(bed, member);
                        if (!member.debugger().awaitStop(LIMIT_MILLIS)) {
                            throw new FaultMissedException(member.number + " did not come to: " + step.name);
                        }
                        atStep.on(member);
                    },
                    () -> heal.on(member));
        };
    }
}
