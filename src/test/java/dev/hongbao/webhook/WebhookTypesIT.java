package dev.hongbao.webhook;

import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.AddressRange;
import dev.hongbao.config.WebConfig.WebhooksConfig;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A webhook gets events of its new types from the answer to the change on. */
@ExtendWith(Servers.class)
class WebhookTypesIT {
    private static final WebhooksConfig CONFIG = new WebhooksConfig(
            Duration.ofSeconds(5),
            Duration.ofSeconds(1),
            Duration.ofDays(1),
            List.of(AddressRange.parse("127.0.0.0/8")),
            null);

    private static final int SHARDS = 4;

    private final AtomicReference<Runnable> beforeTheList = new AtomicReference<>(() -> {});

    /** A pool that does something before the outbox is listed, once. */
    private Pool interrupted(Pool pool) {
        return (Pool) Proxy.newProxyInstance(
                Pool.class.getClassLoader(), new Class<?>[] {Pool.class}, (self, method, given) -> {
                    if (given != null && given[0] instanceof String sql && sql.contains("late_subjects")) {
                        CompletableFuture.runAsync(beforeTheList.getAndSet(() -> {}))
                                .join(); // off this event loop
                    }
                    return method.invoke(pool, given);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"packet.sent", "packet.sent claim.settled"})
    void theEventsAfterAChangeOfTypesAreNotPassedByAReadFromBefore(String types, TestServers servers) throws Exception {
        Vertx vertx = Vertx.vertx();
        try (TestEngine engine = TestEngine.start(
                        servers, 1, Map.of("shards", "" + SHARDS, "webhooks.private-networks", "127.0.0.0/8"));
                HookReceiver receiver = new HookReceiver()) {
            // Given a webhook that has been sent all events of its types
            Webhooks webhooks = engine.engine().outbox.webhooks;
            Webhook.Terms terms = new Webhook.Terms(receiver.url(), List.of(types.split(" ")), 10);
            UUID webhook = get(engine.loop(0)
                            .call(services -> webhooks.create(TestDraws.SERVICE, terms, null, newKey())))
                    .webhook()
                    .id();
            Pool pool = engine.engine().pool();
            Courier courier = new Courier(
                    vertx,
                    webhook,
                    new OutboxReader(interrupted(pool), new OutboxHead(pool, SHARDS)),
                    new WebhookStore(pool),
                    new Receiver(
                            vertx,
                            Receiver.lookups(vertx),
                            get(Receiver.Terms.of(Receiver.lookups(vertx), CONFIG, Clock.systemUTC()))),
                    CONFIG,
                    new Backoff(CONFIG.maxWait()),
                    new WebhookMetrics(new SimpleMeterRegistry()));
            vertx.runOnContext(begin -> courier.start());
            engine.deposit("alice", 100);
            Packet packet = engine.send("alice", 100, 1);
            receiver.untilTaken(packet.id().toString(), 1);

            // When its types change, and an event of the new ones settles, while the courier reads by the old ones
            beforeTheList.set(() -> {
                get(webhooks.change(
                        webhook, null, List.of("packet.sent", "claim.settled", "packet.drained"), null, null));
                engine.claim(packet, "bob");
            });

            // Then
            Eventually.eventually(
                    HookReceiver.SOON,
                    () -> assertThat(receiver.about(packet.id().toString()))
                            .extracting(item -> item.getString("type"))
                            .contains("claim.settled", "packet.drained"));
            get(courier.stop());
        } finally {
            get(vertx.close());
        }
    }
}
