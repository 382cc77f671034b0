package dev.hongbao.domain.reconcile;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.domain.claim.AcceptedClaims;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.ShardAudit;
import dev.hongbao.engine.journal.ShardAudit.Differences;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** Which differences count. The comparison itself is the test's own, and always finds one. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RedisAuditIT {
    private static final Differences WRONG = new Differences(List.of(), List.of("it is not as it was"));

    private TestServers servers;
    private TestEngine engine;
    private Packet packet;
    private int claims;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
        engine.deposit("alice", 1_000);
        packet = engine.send("alice", 1_000, 100); // more shares than an audit looks again
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private List<Finding> audit(Supplier<Future<Differences>> comparison) {
        ShardAudit.Factory audit = (pool, redis, generation) -> new ShardAudit() {
            @Override
            public void unsettled(JournalItem item) {}

            @Override
            public Future<Differences> differences() {
                return comparison.get();
            }
        };
        String namespace = engine.engine().namespace();
        return get(engine.loop(0)
                .call(services -> RedisLinks.open(engine.vertx(), servers.redisUrl(), Duration.ofSeconds(5), "audit")
                        .compose(redis -> new RedisAudit(
                                        engine.vertx(),
                                        engine.engine().pool(),
                                        redis,
                                        namespace,
                                        List.of(AcceptedClaims.FORMAT),
                                        List.of(audit))
                                .run()
                                .eventually(redis::close))));
    }

    private Future<Differences> whileSomebodyClaims() {
        claims++;
        return engine.claim(0, packet, "user" + claims).map(WRONG);
    }

    @Test
    void whatIsOtherWhileTheShardAcceptsIsNoBrokenRule() {
        List<Finding> findings = audit(this::whileSomebodyClaims);

        assertThat(claims).isGreaterThan(1); // it looked again, in vain
        assertThat(findings)
                .filteredOn(finding -> finding.severity() == Severity.VIOLATION)
                .allMatch(Finding::isClean);
        assertThat(findings).flatExtracting(Finding::lines).containsExactly("it is not as it was (as it was at work)");
    }

    @Test
    void whatIsOtherInAShardThatStandsStillIsOne() {
        List<Finding> findings = audit(() -> Future.succeededFuture(WRONG));

        assertThat(findings)
                .filteredOn(finding -> finding.severity() == Severity.VIOLATION)
                .flatExtracting(Finding::lines)
                .containsExactly("it is not as it was");
    }
}
