package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.Member;
import dev.hongbao.tools.chaos.fault.Fault.FaultMissedException;
import dev.hongbao.tools.local.Debugger;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import redis.clients.jedis.Jedis;

/** A server's process ends, or stands still for a while, exactly where a step of its work begins; or leaves a step out, or takes it twice. */
final class StepFaults {
    private static final String CLAIM = "dev.hongbao.domain.claim.";
    private static final String JOURNAL = "dev.hongbao.engine.journal.";
    private static final String PACKET = "dev.hongbao.domain.packet.";
    private static final String PLAY = "dev.hongbao.domain.play.";
    private static final String WRITER = "dev.hongbao.engine.writer.";

    /** Until the step is reached; the load comes by it in some milliseconds. */
    private static final long LIMIT_MILLIS = 3_000;

    private static final Work SETTLEMENT = new Work(
            (bed, member) -> {},
            List.of(
                    new Step("accepted, not told to the writer", CLAIM + "ClaimBatcher$ClaimScriptCall", "read"),
                    new Step("before the commit", JOURNAL + "CursorMoves", "send"),
                    new Step("committed, not answered", CLAIM + "ClaimSettler$Batch", "committed"),
                    new Step("answered, the journal not trimmed", WRITER + "SettlementLoop", "trim")));

    private static final Work RECOVERY = new Work(
            (bed, member) -> {
                try (Jedis redis = bed.redis().client(bed.redis().node(new SplittableRandom(0)))) {
                    redis.scriptFlush();
                }
            },
            List.of(
                    new Step("the journal retired", WRITER + "Recovery", "replace"),
                    new Step("the retired journal settled", "dev.hongbao.engine.shard.ShardStore", "drawNext"),
                    new Step("the generation drawn", WRITER + "Recovery", "prepare"),
                    new Step("the old keys gone", WRITER + "Recovery", "load"),
                    new Step("half of the keys written", PACKET + "PacketShardLoader", "writeClaims"),
                    new Step("all but the scripts loaded", WRITER + "Recovery", "loadScripts")));

    private static final Work HAND_OVER = new Work(
            (bed, member) -> member.askToStop(),
            List.of(
                    new Step("the shards come to rest", WRITER + "HandOver", "restedAll"),
                    new Step("the shards rest, their locks held", WRITER + "OwnerLocks", "free")));

    private static final Work TAKE_OVER = new Work(
            (bed, member) -> bed.postgres().rows(PostgresFaults.OWNERS),
            List.of(new Step("the locks taken, nothing looked at", WRITER + "ShardSupervisor", "acquired")));

    private static final Work COMMAND = new Work(
            (bed, member) -> {},
            List.of(
                    new Step("a send committed, not loaded", PACKET + "PacketSender", "load"),
                    new Step("a play's cost held, not played", PLAY + "PlayAttempt", "attempt"),
                    new Step("a play decided, not told to the writer", PLAY + "PlayBatcher$PlayScriptCall", "read"),
                    new Step("a close in the journal, not settled", PACKET + "ClosePackets", "read")));

    private static final Step BUS =
            new Step("a message to other servers", "dev.hongbao.engine.cluster.RedisLine", "publish");

    static final List<FaultKind> ALL = List.of(
            new FaultKind("server: halted in a settlement", FaultKind.Cost.RESTART, halted(SETTLEMENT)),
            new FaultKind("server: halted in a recovery", FaultKind.Cost.RESTART, halted(RECOVERY)),
            new FaultKind("server: halted in a hand-over", FaultKind.Cost.RESTART, halted(HAND_OVER)),
            new FaultKind("server: halted as it takes over", FaultKind.Cost.RESTART, halted(TAKE_OVER)),
            new FaultKind("server: halted in a command", FaultKind.Cost.RESTART, halted(COMMAND)),
            new FaultKind("server: frozen in a settlement", FaultKind.Cost.SILENCE, frozen(SETTLEMENT)),
            new FaultKind("server: frozen in a recovery", FaultKind.Cost.SILENCE, frozen(RECOVERY)),
            new FaultKind("bus: messages dropped", bus(Debugger::leaveOut)),
            new FaultKind("bus: messages doubled", bus(Debugger::runTwice)));

    static final List<Work> WORKS =
            List.of(SETTLEMENT, RECOVERY, HAND_OVER, TAKE_OVER, COMMAND, new Work((bed, member) -> {}, List.of(BUS)));

    private StepFaults() {}

    /** Where a method begins: all that came before is done, nothing of what it does. */
    record Step(String name, String type, String method) {}

    /** @param provoked has the work begin; nothing for what always goes on */
    record Work(Provocation provoked, List<Step> steps) {
        Step any(SplittableRandom random) {
            return steps.get(random.nextInt(steps.size()));
        }
    }

    private interface Bend {
        void of(Debugger server, String type, String method) throws IOException;
    }

    private interface Provocation {
        void of(ChaosBed bed, Member member) throws Exception;
    }

    private interface Act {
        void on(Member member) throws Exception;
    }

    private static FaultKind.Maker halted(Work work) {
        return at(work, Member::kill, member -> {
            if (member.isAlive()) { // it has not come there
                member.debugger().goOn();
                if (work != HAND_OVER) {
                    return;
                }
                member.terminate();
            }
            member.start();
        });
    }

    private static FaultKind.Maker frozen(Work work) {
        return at(work, member -> {}, member -> member.debugger().goOn());
    }

    /** One server, when it comes to a step. */
    private static FaultKind.Maker at(Work work, Act inject, Act heal) {
        return (name, bed, random) -> {
            Member member = ServerFaults.any(bed, random);
            Step step = work.any(random);
            return new Fault(
                    name,
                    ServerFaults.place(member),
                    step.name,
                    Set.of(member.number()),
                    () -> {
                        reach(bed, member, work, step);
                        inject.on(member);
                    },
                    () -> heal.on(member));
        };
    }

    /** What one server tells the others. */
    private static FaultKind.Maker bus(Bend bend) {
        return (name, bed, random) -> {
            Member member = ServerFaults.any(bed, random);
            return new Fault(
                    name,
                    ServerFaults.place(member),
                    Set.of(),
                    () -> bend.of(member.debugger(), BUS.type, BUS.method),
                    () -> member.debugger().goOn());
        };
    }

    private static void reach(ChaosBed bed, Member member, Work work, Step step) throws Exception {
        member.debugger().stopAt(step.type, step.method);
        work.provoked.of(bed, member);
        if (!member.debugger().awaitStop(LIMIT_MILLIS)) {
            throw new FaultMissedException(member.number() + " did not come to: " + step.name);
        }
    }
}
