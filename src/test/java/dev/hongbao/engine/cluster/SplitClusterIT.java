package dev.hongbao.engine.cluster;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.config.Config;
import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Crowd;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LocalMembers;
import dev.hongbao.tools.local.LossyProxy;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.EventBusOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The network between the servers falls silent for so long that each takes the other for dead; both reach the stores all the while. */
@Tag("long")
@ExtendWith(Servers.class)
class SplitClusterIT {
    private static final Map<String, String> OPTIONS = Map.of("shards", "4");

    /** Hazelcast hears nothing for ten seconds before it gives a member up, and looks for a lost half every ten. */
    private static final Duration LONG = Duration.ofSeconds(60);

    /** A server's end of the line, which the others reach through proxies only. */
    private static final class End implements AutoCloseable {
        private final Config membership;
        private final EventBusOptions bus;
        private final LossyProxy membershipProxy;
        private final LossyProxy busProxy;

        End(Map<String, String> options) throws IOException {
            var config = HongbaoConfig.of(options).engine().cluster();
            membership = HazelcastLine.membership(config);
            bus = HazelcastLine.bus(config);
            membershipProxy = new LossyProxy(config.host(), config.port());
            busProxy = new LossyProxy(config.host(), config.port() + 1);
            membership.getNetworkConfig().setPublicAddress(address());
            bus.setClusterPublicPort(busProxy.port());
        }

        String address() {
            return "127.0.0.1:" + membershipProxy.port();
        }

        Future<ServerLine> join(TestEngine engine, List<End> all) {
            membership
                    .getNetworkConfig()
                    .getJoin()
                    .getTcpIpConfig()
                    .setMembers(all.stream().map(End::address).toList());
            return HazelcastLine.join(membership, bus, engine.engine().namespace());
        }

        Stream<LossyProxy> proxies() {
            return Stream.of(membershipProxy, busProxy);
        }

        @Override
        public void close() throws IOException {
            membershipProxy.close();
            busProxy.close();
        }
    }

    private static double heard(TestEngine engine) {
        return engine.messages("heard");
    }

    /** What one tells the other alone arrives: here something that is of no use. */
    private static void awaitTold(ServerLine from, ServerLine to, TestEngine engine) {
        double before = engine.messages("ignored");
        eventually(LONG, () -> {
            from.tell(to.self(), Buffer.buffer("?"));
            assertThat(engine.messages("ignored")).isGreaterThan(before);
        });
    }

    /** Each hears the other, again and again. */
    private static void awaitHeard(TestEngine... engines) {
        for (TestEngine engine : engines) {
            double before = heard(engine);
            eventually(LONG, () -> assertThat(heard(engine)).isGreaterThan(before + 3));
        }
    }

    @Test
    void bothHalvesOfALongSplitServeAndTheBusWorksWhenTheyHaveMet(TestServers servers) throws Exception {
        Books books = new Books(servers);
        List<Map<String, String>> options = LocalMembers.options(2);
        try (TestEngine first = TestEngine.start(servers, 2, OPTIONS);
                TestEngine second = TestEngine.start(servers, 2, OPTIONS);
                End one = new End(options.get(0));
                End two = new End(options.get(1))) {
            // Given two servers that hear each other, while people claim at both
            List<End> ends = List.of(one, two);
            ServerLine firstLine = get(one.join(first, ends));
            ServerLine secondLine = get(two.join(second, ends));
            get(first.engine().join(firstLine));
            get(second.engine().join(secondLine));
            first.deposit("alice", 1_000_000_000);
            Crowd crowd = new Crowd(first, second).start("alice");
            awaitHeard(first, second);
            crowd.awaitSettled(200);

            // When the network between them falls silent
            long begun = System.nanoTime();
            ends.stream().flatMap(End::proxies).forEach(LossyProxy::fallSilent);
            crowd.awaitSettled(200);
            eventually(
                    LONG,
                    () -> assertThat(firstLine.isAlone() && secondLine.isAlone())
                            .isTrue());

            // Then each serves alone
            long split = (System.nanoTime() - begun) / 1_000_000;
            double heard = heard(first);
            crowd.awaitSettled(500);
            assertThat(heard(first)).isEqualTo(heard);

            // When it is back, Then they find each other, and the bus works as before
            begun = System.nanoTime();
            ends.stream().flatMap(End::proxies).forEach(LossyProxy::comeBack);
            eventually(
                    LONG,
                    () -> assertThat(firstLine.isAlone() || secondLine.isAlone())
                            .isFalse());
            awaitHeard(first, second);
            awaitTold(firstLine, secondLine, second);
            awaitTold(secondLine, firstLine, first);
            System.out.printf(
                    "each was alone after %d ms of silence, and heard the other again %d ms after it%n",
                    split, (System.nanoTime() - begun) / 1_000_000);
            crowd.awaitSettled(200);
            crowd.stop();

            // And nothing was lost or told wrong
            assertThat(crowd.unknownAnswers()).isZero();
            crowd.assertAnswersKept(servers);
            eventually(LONG, () -> {
                books.assertNothingDue();
                books.assertJournalsEmpty();
            });
            books.assertReconciled();
        }
    }
}
