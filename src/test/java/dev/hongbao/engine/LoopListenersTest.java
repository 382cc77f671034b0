package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.Settlements.LoopListeners;
import dev.hongbao.testing.Eventually;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
class LoopListenersTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    private final LoopListeners<Integer> listeners = new LoopListeners<>();
    private final List<Integer> heard = new CopyOnWriteArrayList<>();

    @Test
    void eachHearsInOrderOnItsOwnLoop(Vertx vertx) {
        // Given
        Context loop = vertx.getOrCreateContext();
        List<Context> heardOn = new CopyOnWriteArrayList<>();
        listeners.add(task -> loop.runOnContext(now -> task.run()), () -> true, told -> {
            heard.add(told);
            heardOn.add(vertx.getOrCreateContext());
        });

        // When
        listeners.tell(1);
        listeners.tell(2);

        // Then
        Eventually.eventually(SOON, () -> assertThat(heard).containsExactly(1, 2));
        assertThat(heardOn).containsOnly(loop);
    }

    @Test
    void whoDoesNotWantToHearIsNotToldLater(Vertx vertx) {
        // Given
        AtomicBoolean wants = new AtomicBoolean();
        listeners.add(Loop.of(vertx).here(), wants::get, heard::add);
        listeners.tell(1);

        // When
        wants.set(true);
        listeners.tell(2);

        // Then
        Eventually.eventually(SOON, () -> assertThat(heard).containsExactly(2));
    }

    @Test
    void whoThrowsKeepsItFromNobodyElse() {
        // Given
        listeners.add(told -> {
            throw new IllegalStateException("a fault");
        });
        listeners.add(heard::add);

        // When
        listeners.tell(1);

        // Then
        assertThat(heard).containsExactly(1);
    }
}
