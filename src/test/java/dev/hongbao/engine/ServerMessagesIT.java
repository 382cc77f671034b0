package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.hongbao.engine.Wire.WireWriter;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestLines;
import dev.hongbao.testing.TestServers;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Messages between servers make them quick, and nothing else. */
@ExtendWith(Servers.class)
class ServerMessagesIT {
    private static final Map<String, String> OPTIONS = Map.of("shards", "4");
    private static final Duration SOON = Duration.ofSeconds(10);

    private static boolean owns(TestEngine engine, int shard) {
        return engine.metrics()
                        .get("hongbao.shard.owned")
                        .tag("shard", Integer.toString(shard))
                        .gauge()
                        .value()
                == 1;
    }

    /** One claim after the other. */
    private static double medianMicros(TestEngine engine, Packet packet, String users, int claims) {
        long[] nanos = new long[claims];
        for (int i = 0; i < claims; i++) {
            long begun = System.nanoTime();
            assertThat(engine.claim(packet, users + i).kind()).isEqualTo(Kind.CLAIMED);
            nanos[i] = System.nanoTime() - begun;
        }
        Arrays.sort(nanos);
        return nanos[claims / 2] / 1e3;
    }

    /**
     * Of a claim, in microseconds.
     *
     * @param owner at the server that owns the shard
     * @param other at another one
     * @param alone at another one without a bus
     */
    private record Medians(double owner, double other, double alone) {
        @Override
        public String toString() {
            return "median of a claim: owner %.0f us, other %.0f us (%.2f times as long), other without the bus %.0f us"
                    .formatted(owner, other, other / owner, alone);
        }
    }

    /** Numbers of claims, one after the other, in each of some rounds. The best round counts. */
    private record Load(int warm, int claims, int rounds) {}

    /** Joins two engines. */
    private interface Lines {
        void join(TestEngine owner, TestEngine other);
    }

    private static Medians measure(TestServers servers, Load load, Lines lines) {
        try (TestEngine owner = TestEngine.start(servers, 1, OPTIONS);
                TestEngine other = TestEngine.start(servers, 1, OPTIONS)) {
            // Given
            get(other.engine().stopWriter());
            eventually(SOON, () -> assertThat(owns(owner, 3)).isTrue());
            owner.deposit("alice", 1_000_000);
            Packet packet = owner.send("alice", 100_000, 5_000);
            double alone = medianMicros(other, packet, "alone", 7);

            // When
            lines.join(owner, other);
            eventually(
                    Duration.ofSeconds(20),
                    () -> assertThat(other.messages("heard")).isPositive());
            medianMicros(owner, packet, "warm", load.warm);
            medianMicros(other, packet, "warmer", load.warm);
            double here = Double.MAX_VALUE;
            double there = Double.MAX_VALUE;
            for (int round = 0; round < load.rounds; round++) {
                here = Math.min(here, medianMicros(owner, packet, "here" + round + "-", load.claims));
                there = Math.min(there, medianMicros(other, packet, "there" + round + "-", load.claims));
            }
            Medians medians = new Medians(here, there, alone);
            System.out.println(medians);
            assertThat(other.messages("ignored")).isZero();
            get(owner.engine().leave());
            get(other.engine().leave());
            new Books(servers).assertClean();
            return medians;
        }
    }

    @Test
    void aClaimIsSettledSoonWhereItsShardIsNotOwned(TestServers servers) {
        TestLines lines = new TestLines();

        Medians medians = measure(servers, new Load(20, 20, 2), (owner, other) -> {
            get(owner.engine().join(lines.line("owner")));
            get(other.engine().join(lines.line("other")));
        });

        assertThat(medians.other()).isLessThan(medians.alone() / 2);
    }

    /** The target for two servers with the bus between them: for a machine that does nothing else. */
    @Test
    @Tag("long")
    void aClaimElsewhereTakesAtMostHalfAsLongAgain(TestServers servers) {
        Medians medians = measure(servers, new Load(300, 300, 5), (owner, other) -> {
            get(owner.engine().join());
            get(other.engine().join());
        });

        assertThat(medians.other() / medians.owner()).isLessThanOrEqualTo(1.5);
    }

    /** Two servers, of which the first settles. */
    private static void join(TestLines lines, TestEngine first, TestEngine second) {
        get(second.engine().stopWriter());
        get(first.engine().join(lines.line("first")));
        get(second.engine().join(lines.line("second")));
    }

    private static double setAside(TestEngine engine) {
        return engine.metrics().get("hongbao.quarantined").gauge().value();
    }

    /** The look at Postgres that is made without a word comes once a second. */
    @Test
    void whatAnotherServerSetsAsideIsLookedForAtItsWord(TestServers servers) {
        Books books = new Books(servers);
        TestLines lines = new TestLines();
        int rounds = 20;
        try (TestEngine engine = TestEngine.start(servers, 1, OPTIONS)) {
            // Given
            get(engine.engine().join(lines.line("first")));
            ServerLine other = lines.line("other");
            double before = setAside(engine);

            // When
            assertTimeoutPreemptively(Duration.ofSeconds(rounds / 4), () -> {
                for (int round = 1; round <= rounds; round++) {
                    books.execute("insert into quarantine_unit (id, kind, shard, sqlstate, reason)"
                            + " values (gen_random_uuid(), 'packet', 0, '', 'of a test')");
                    other.tell("first", new WireWriter().octet(1).octet(5).message());

                    // Then
                    double all = before + round;
                    eventually(SOON, () -> assertThat(setAside(engine)).isEqualTo(all));
                }
            });
            books.execute("delete from quarantine_unit");
        }
    }
}
