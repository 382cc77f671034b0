package dev.hongbao.engine.cluster;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.shard.Installation;
import dev.hongbao.engine.shard.ShardStore;
import dev.hongbao.engine.shard.Shards;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.TestLines;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.junit5.VertxExtension;
import io.vertx.pgclient.PgBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a server knows of the others without any store. */
@ExtendWith(VertxExtension.class)
class ServerNewsTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    /** What a server says of itself that owns nothing. */
    static Buffer self(String name, boolean listens) {
        return new WireWriter()
                .octet(1)
                .octet(1)
                .text(name)
                .numbers(List.of())
                .octet(listens ? 1 : 0)
                .message();
    }

    @Test
    void somebodyWhoListensOnAnotherServerIsAnAudience(Vertx vertx) {
        // Given
        TestLines lines = TestLines.reliable();
        ServerLine other = lines.line("other");
        other.listen(message -> {});
        Audience audience = new Audience();
        ShardStore nowhere =
                new ShardStore(PgBuilder.pool().using(vertx).build(), new Installation(new UUID(0, 0), "test"));
        get(vertx.deployVerticle(new ServerNews(
                lines.line("this"),
                new Shards(nowhere, 16, Map.of()),
                List.of(),
                audience,
                "nudge",
                "nudged",
                new SimpleMeterRegistry())));
        assertThat(audience.isAnywhere()).isFalse();

        // When
        other.tell("this", self("other", true));

        // Then
        Eventually.eventually(SOON, () -> assertThat(audience.isAnywhere()).isTrue());

        // And when nobody does there any more
        other.tell("this", self("other", false));
        Eventually.eventually(SOON, () -> assertThat(audience.isAnywhere()).isFalse());
    }
}
