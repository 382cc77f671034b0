package dev.hongbao.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The rests of a run of checks. */
class PaceTest {
    /** What follows a run closes its connections, for which no event loop is left. */
    @Test
    void aRestThatTheServersEndCutsOffGoesNowhere() throws Exception {
        // Given a run that rests
        Vertx vertx = Vertx.vertx();
        AtomicBoolean goesOn = new AtomicBoolean();
        vertx.runOnContext(now -> new Pace(vertx, millis -> 60_000)
                .piece(() -> Future.succeededFuture("a piece"))
                .onComplete(rested -> goesOn.set(true)));

        // When
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);

        // Then
        assertThat(goesOn).isFalse();
    }
}
