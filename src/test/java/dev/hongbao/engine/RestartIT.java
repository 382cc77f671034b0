package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Claim;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A server ends between accepted and settled (invariants I5, I6, I11). */
@ExtendWith(Servers.class)
class RestartIT {
    private static final Duration SOON = Duration.ofSeconds(5);

    @Test
    void whatWasAcceptedIsSettledByTheNextOwnerAsItWasAccepted(TestServers servers) throws Exception {
        Books books = new Books(servers);
        List<Claim> accepted = new CopyOnWriteArrayList<>();
        Packet packet;
        List<String> generations;
        try (Connection blocker = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = blocker.createStatement()) {
            // Given a server that cannot settle, and is gone before it can
            TestEngine before = TestEngine.start(servers, 2, Map.of("shards", "2"));
            before.deposit("alice", 10_000);
            packet = before.send("alice", 1000, 100);
            generations = books.stamps();
            blocker.setAutoCommit(false);
            statement.execute("select 1 from shard for update");
            List<Future<ClaimOutcome>> answers = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                String user = "u" + i;
                answers.add(before.loop(i)
                        .call(services -> services.claims.claim(member(user), packet.id(), null, accepted::add)));
            }
            for (Future<ClaimOutcome> answer : answers) {
                assertThatThrownBy(() -> get(answer)).isInstanceOf(UnavailableException.class);
            }
            CompletableFuture<Void> gone = CompletableFuture.runAsync(before::close);
            // A client's last statement may still reach Postgres after the client has gone: break it first.
            eventually(Duration.ofSeconds(9), () -> {
                books.breakConnections(false);
                assertThat(gone).isDone();
            });
            blocker.rollback();
        }
        assertThat(accepted).hasSize(50);
        assertThat(books.longOf("select count(*) from claim")).isZero();

        // When
        try (TestEngine after = TestEngine.start(servers, 2, Map.of())) {
            // Then
            eventually(SOON, books::assertJournalsEmpty);
            for (Claim before : accepted) {
                ClaimOutcome now = after.claim(packet, before.user().value());
                assertThat(now.kind()).isEqualTo(Kind.ALREADY_CLAIMED);
                assertThat(now.wonClaim().slot()).isEqualTo(before.slot());
                assertThat(now.wonClaim().amount()).isEqualTo(before.amount());
            }
            assertThat(books.stamps()).as("Redis lost nothing").isEqualTo(generations);
            books.assertClean();
        }
    }
}
