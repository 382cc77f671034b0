package dev.hongbao.engine;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The clock, the timers and the messages of the caller's event loop: all that the engine takes from Vert.x. A test may put virtual
 * time in its place. Thread-safe; each call acts on the event loop of its caller.
 */
public interface Loop {
    /** The time of a monotonic clock, as {@link System#nanoTime}. */
    long nanos();

    /**
     * Runs a task once.
     *
     * @param millis from now, at least 1
     * @return for {@link #cancel}
     */
    long timer(long millis, Runnable task);

    /**
     * Runs a task again and again.
     *
     * @param millis between two runs, at least 1
     * @return for {@link #cancel}
     */
    long periodic(long millis, Runnable task);

    /** Ends a timer. Idempotent. */
    void cancel(long timer);

    /** Runs a task after the current pass of the event loop. */
    void run(Runnable task);

    /** Runs tasks on this event loop, from any thread. */
    Executor here();

    /** Publishes an immutable message to all loops of this server. */
    void publish(String address, @Nullable Object message);

    /** Hears the messages of this server from now on, on this event loop. */
    <T> void listen(String address, Consumer<T> heard);

    /**
     * The result of {@code asked}, or a {@link TimeoutException} after so many milliseconds, at least 1. (Vert.x' own timeout of a future
     * without a context wakes another thread, twice a call.)
     */
    default <T> Future<T> timeout(Future<T> asked, long millis) {
        if (asked.isComplete()) {
            return asked;
        }
        Promise<T> first = Promise.promise();
        long timer = timer(millis, () -> first.tryFail(new TimeoutException("no answer in " + millis + " ms")));
        asked.onComplete(answer -> {
            cancel(timer);
            if (answer.succeeded()) {
                first.tryComplete(answer.result());
            } else {
                first.tryFail(answer.cause());
            }
        });
        return first.future();
    }

    /** Succeeds after so many milliseconds. */
    default Future<Void> pause(long millis) {
        Promise<Void> over = Promise.promise();
        timer(millis, over::complete);
        return over.future();
    }

    /**
     * Lets messages of exactly this type pass between the loops of this server without a copy, so they are immutable. Call it once a
     * type, before anything is published.
     */
    static <T> void passes(Vertx vertx, Class<T> type) {
        vertx.eventBus().registerDefaultCodec(type, new LocalCodec<>(type));
    }

    /** The caller's event loop; elsewhere an {@link IllegalStateException}. */
    static Loop current() {
        Context context = Vertx.currentContext();
        if (context == null) {
            throw new IllegalStateException("not on an event loop");
        }
        return of(context.owner());
    }

    /** Vert.x' loops. */
    static Loop of(Vertx vertx) {
        return new Loop() {
            @Override
            public long nanos() {
                return System.nanoTime();
            }

            @Override
            public long timer(long millis, Runnable task) {
                return vertx.setTimer(millis, timer -> task.run());
            }

            @Override
            public long periodic(long millis, Runnable task) {
                return vertx.setPeriodic(millis, tick -> task.run());
            }

            @Override
            public void cancel(long timer) {
                vertx.cancelTimer(timer);
            }

            @Override
            public void run(Runnable task) {
                vertx.runOnContext(now -> task.run());
            }

            @Override
            public Executor here() {
                Context context = vertx.getOrCreateContext();
                return task -> context.runOnContext(now -> task.run());
            }

            @Override
            public void publish(String address, @Nullable Object message) {
                vertx.eventBus().publish(address, message);
            }

            @Override
            public <T> void listen(String address, Consumer<T> heard) {
                vertx.eventBus().<T>localConsumer(address, message -> heard.accept(message.body()));
            }
        };
    }

    final class LocalCodec<T> implements MessageCodec<T, T> {
        private final Class<T> type;

        private LocalCodec(Class<T> type) {
            this.type = type;
        }

        @Override
        public T transform(T message) {
            return message;
        }

        @Override
        public String name() {
            return type.getName();
        }

        @Override
        public byte systemCodecID() {
            return -1;
        }

        @Override
        public void encodeToWire(Buffer buffer, T message) {
            throw new UnsupportedOperationException("messages stay within one server");
        }

        @Override
        public T decodeFromWire(int position, Buffer buffer) {
            throw new UnsupportedOperationException("messages stay within one server");
        }
    }
}
