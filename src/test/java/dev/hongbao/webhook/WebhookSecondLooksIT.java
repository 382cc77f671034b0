package dev.hongbao.webhook;

import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Overlap;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import io.vertx.core.Future;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** A change of webhooks that waited for a lock sees what was committed meanwhile. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WebhookSecondLooksIT {
    private TestServers servers;
    private TestEngine engine;
    private Books books;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of("webhooks.private-networks", "127.0.0.0/8"));
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    @Test
    void aWebhookThatWaitedForTheLastOneIsOneTooMany() throws SQLException {
        // Given one less than there may be, and another one that is being made
        books.execute("insert into webhook (id, url, types, batch, position, low)"
                + " select gen_random_uuid(), 'https://h', array['x'], 1, '', 0 from generate_series(1, 49)");
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first("select pg_advisory_xact_lock(hashtextextended('webhooks', 0))");
            overlap.first("insert into webhook (id, url, types, batch, position, low)"
                    + " values (gen_random_uuid(), 'https://h', array['x'], 1, '', 0)");

            // When
            Webhook.Terms terms = new Webhook.Terms("http://127.0.0.1:1/", List.of("packet.expired"), 1);
            Future<Webhooks.Made> second = engine.loop(0)
                    .call(services -> engine.engine().outbox.webhooks.create(TestDraws.SERVICE, terms, null, newKey()));
            overlap.awaitMeeting(second::isComplete);
            overlap.commit();

            // Then
            assertRefused(Refusal.INVALID, second);
        }
        books.execute("delete from webhook");
    }

    @Test
    void aSecretThatWaitedForTheLastOneIsOneTooMany() throws SQLException {
        // Given four secrets, and a fifth that is being made
        String id = UUID.randomUUID().toString();
        String makes = "insert into webhook_secret (id, webhook, secret, ends_at) select gen_random_uuid(), '" + id
                + "', 's', now() + interval '1 hour' from generate_series(1, ";
        books.execute("insert into webhook (id, url, types, batch, position, low) values ('" + id
                + "', 'https://h', array['x'], 1, '', 0); " + makes + "4)");
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first("select true from webhook for update");
            overlap.first(makes + "1)");

            // When
            Future<Webhooks.Made> second = engine.loop(0)
                    .call(services ->
                            engine.engine().outbox.webhooks.rotate(TestDraws.SERVICE, UUID.fromString(id), newKey()));
            overlap.awaitMeeting(second::isComplete);
            overlap.commit();

            // Then
            assertRefused(Refusal.INVALID, second);
        }
        books.execute("delete from webhook");
    }

    private static void assertRefused(Refusal why, Future<?> asked) {
        assertThatThrownBy(() -> get(asked))
                .isInstanceOfSatisfying(
                        RefusedException.class,
                        refused -> assertThat(refused.refusal()).isEqualTo(why));
    }
}
