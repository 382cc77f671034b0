package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Gate;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A large settlement is sent behind the one under way: what becomes of it when that one goes through, and when it does not. */
@ExtendWith(Servers.class)
class PipelinedSettlementIT {
    private static final int MEMBERS = 900;

    /** So many that they are not settled together with others, and so few that more of the rest come than they are. */
    private static final int FIRST = 300;

    private TestServers servers;
    private TestEngine engine;
    private Books books;
    private Packet packet;

    @BeforeEach
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of("shards", "1", "claim.settle-timeout", "10s"));
        engine.deposit("alice", 100_000);
        packet = engine.send("alice", 10_000, MEMBERS + 1);
    }

    @AfterEach
    void stop() {
        books.assertClean();
        engine.close();
    }

    /** Some claim before anything is settled, the rest while no settlement gets on, and {@code meanwhile} happens; then it does. */
    private List<ClaimOutcome> claimAtTheGate(String meanwhile) throws SQLException {
        List<Future<ClaimOutcome>> answers = new ArrayList<>();
        get(engine.engine().stopWriter());
        claim(0, FIRST, answers);
        try (Gate gate = new Gate(servers.postgresOwnerUrl(), "transfer")) {
            get(engine.engine().startWriter());
            awaitSettlement();
            claim(FIRST, MEMBERS, answers);
            gate.meanwhile(meanwhile);
        }
        return get(Future.all(answers)).list();
    }

    /** One has begun to write, and waits. */
    private void awaitSettlement() {
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(books.longOf("select count(*) from pg_locks"
                                + " where relation = 'transfer'::regclass and mode = 'RowExclusiveLock'"))
                        .isPositive());
    }

    /** Their claims are accepted, in batches that are as large as can be. */
    private void claim(int first, int end, List<Future<ClaimOutcome>> answers) {
        CountDownLatch accepted = new CountDownLatch(end - first);
        answers.addAll(get(engine.loop(0)
                .call(services -> Future.succeededFuture(IntStream.range(first, end)
                        .mapToObj(n -> services.claims.claim(
                                member("m" + n), packet.id(), null, claim -> accepted.countDown()))
                        .toList()))));
        eventually(Duration.ofSeconds(10), () -> assertThat(accepted.getCount()).isZero());
    }

    private void assertEverybodyHasOne(List<ClaimOutcome> outcomes) {
        Set<Integer> slots = new HashSet<>();
        outcomes.forEach(outcome -> slots.add(outcome.wonClaim().slot()));
        assertThat(slots).hasSize(MEMBERS);
        assertThat(books.longOf(
                        "select count(*) from claim where user_id like 'm%' and packet = '" + packet.id() + "'"))
                .isEqualTo(MEMBERS);
    }

    private double failedSettlements() {
        return engine.metrics().counter("hongbao.journal.failures").count();
    }

    @Test
    void whatIsSentBehindASettlementIsSettledAfterIt() throws SQLException {
        // Given, When
        List<ClaimOutcome> outcomes = claimAtTheGate("select 1");

        // Then
        assertThat(outcomes).allMatch(outcome -> outcome.kind() == Kind.CLAIMED);
        assertEverybodyHasOne(outcomes);
        assertThat(failedSettlements()).as("settlements that failed").isZero();
    }

    @Test
    void whatIsSentBehindASettlementThatFailsIsTriedAgain() throws SQLException {
        // Given a share that somebody holds of whom Redis does not know
        String eve = "insert into account (kind, owner, asset) values ('wallet', 'eve', 'CNY');"
                + "insert into transfer (kind, debit, credit, amount, subject, slot)"
                + " select 'claim', escrow, (select id from account where owner = 'eve'), " + packet.amountOf(0)
                + ", id, 0 from packet where id = '"
                + packet.id() + "'";

        // When
        List<ClaimOutcome> outcomes = claimAtTheGate(eve);

        // Then
        assertEverybodyHasOne(outcomes);
        assertThat(failedSettlements()).as("settlements whose cursor was stale").isPositive();
    }
}
