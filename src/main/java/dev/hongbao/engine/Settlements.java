package dev.hongbao.engine;

import dev.hongbao.engine.Wire.WireReader;
import dev.hongbao.engine.Wire.WireWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listeners to settled facts of one kind on a server. Best effort: a waiting caller is also looked up in Postgres.
 *
 * @param <T> the facts of one settlement
 * @param here gets all settlements of this server: once, after the commit
 * @param toWaiters gets settlements of other servers for the callers that wait here: at once, some more than once, without facts
 *     that need a lookup
 * @param toListeners gets every settlement of other servers that this server learns of: once where that can be known, some late,
 *     after a lookup
 */
public record Settlements<T>(LoopListeners<T> here, LoopListeners<T> toWaiters, LoopListeners<T> toListeners) {
    public Settlements() {
        this(new LoopListeners<>(), new LoopListeners<>(), new LoopListeners<>());
    }

    /**
     * The listeners to one kind of settlement on this server. Each listens on its own event loop, and only while it wants to, or on
     * the sender's thread. The event bus would wake every loop for every settlement. While claims settle one by one, a wake-up costs
     * more than the work of most loops. Thread-safe.
     *
     * @param <T> one settlement's facts, immutable
     */
    public static final class LoopListeners<T> {
        private static final Logger LOG = LoggerFactory.getLogger(Settlements.class);

        private final List<Consumer<T>> all = new CopyOnWriteArrayList<>();

        /**
         * Adds a listener that runs on its event loop. It gets the settlements of one sending thread in their order.
         *
         * @param wants asked on the sending thread; the listener never gets a settlement for which it returned false
         */
        public void add(Executor loop, BooleanSupplier wants, Consumer<T> listener) {
            all.add(settlements -> {
                if (wants.getAsBoolean()) {
                    loop.execute(() -> listener.accept(settlements));
                }
            });
        }

        /**
         * Adds a listener that runs on the sending thread.
         *
         * @param listener short, safe on any thread
         */
        public void add(Consumer<T> listener) {
            all.add(listener);
        }

        /** Sends a settlement to the listeners. Never throws: a listener's fault is logged and does not reach the sender. */
        public void tell(T settlements) {
            for (Consumer<T> each : all) {
                try {
                    each.accept(settlements);
                } catch (RuntimeException fault) {
                    LOG.error("a listener failed", fault);
                }
            }
        }
    }

    /**
     * A kind of settled facts that the settling server sends to the others.
     *
     * @param <T> the facts of one settlement
     */
    public interface SettledFacts<T> {
        /** The first {@link #kind}. Lower numbers are messages of {@link ServerMessages} itself; it lists all kinds. */
        int FIRST_KIND = 16;

        /** A kind is one byte on the wire. */
        int LAST_KIND = 255;

        /** The number of this kind on the wire: {@link #FIRST_KIND} to {@link #LAST_KIND}, equal in all versions. */
        int kind();

        Settlements<T> settlements();

        /**
         * The journal entries of these facts. A server that knows another generation ignores the facts; only the writers of the
         * entries wait for them. Empty for facts that were in no journal.
         */
        List<CursorMoves.Move> moves(T facts);

        void write(T facts, WireWriter to);

        /**
         * Reads the output of {@link #write} and passes it to this server's listeners. One fact may arrive more than once, in any
         * order.
         *
         * @throws RuntimeException for malformed bytes
         */
        void heard(WireReader from);

        /** @throws IllegalArgumentException for a kind that is taken or out of range */
        static Map<Integer, SettledFacts<?>> byKind(List<SettledFacts<?>> facts) {
            Map<Integer, SettledFacts<?>> byKind = new HashMap<>();
            for (SettledFacts<?> each : facts) {
                int kind = each.kind();
                if (kind < FIRST_KIND || kind > LAST_KIND || byKind.put(kind, each) != null) {
                    throw new IllegalArgumentException("the kind " + kind + " of "
                            + each.getClass().getSimpleName() + " is taken, or not from " + FIRST_KIND + " to "
                            + LAST_KIND);
                }
            }
            return Map.copyOf(byKind);
        }
    }

    /**
     * The listeners to everything that is settled or written into feeds. It counts the sockets and followers of feeds on this server,
     * and notes whether another server has some. While this server has none, other servers send it only the settlements that it waits
     * for. Thread-safe.
     */
    public static final class Audience {
        /** Address of an empty message after this server committed events of a feed: the fast path. Best effort. */
        public static final String NUDGE = "feed.nudge";

        /** Address of an empty message after another server reported committed events. */
        public static final String NUDGED = "feed.nudge.elsewhere";

        private final AtomicInteger size = new AtomicInteger();
        private volatile boolean elsewhere;

        public void joined() {
            size.incrementAndGet();
        }

        /** Once for each {@link #joined}. */
        public void left() {
            size.decrementAndGet();
        }

        /** Whether this server has no listener. */
        public boolean isEmpty() {
            return size.get() == 0;
        }

        /** Whether any server has a listener, as far as this server knows. */
        public boolean isAnywhere() {
            return elsewhere || !isEmpty();
        }

        void setElsewhere(boolean now) {
            elsewhere = now;
        }
    }
}
