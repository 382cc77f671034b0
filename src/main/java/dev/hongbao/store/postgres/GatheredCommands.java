package dev.hongbao.store.postgres;

import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends commands to Postgres, many in one statement. During a statement later commands wait for the next one. So statements grow
 * with the load, and a lone command goes at once. Each command is answered on the event loop it comes from.
 *
 * <p>A statement may be refused because of one command. Then each command is tried alone, in order, and only those fail that are
 * refused alone. A broken connection fails all of them: their effect is unknown, and each may be repeated under its key.
 * Thread-safe.
 *
 * @param <C> a command
 * @param <R> its answer
 */
public final class GatheredCommands<C, R> {
    private static final Logger LOG = LoggerFactory.getLogger(GatheredCommands.class);

    /** More commands make a statement no cheaper, and the first ones wait longer. */
    private static final int BATCH = 256;

    /** A command that waited longer is not begun: its caller may have given up. */
    private static final Duration MAX_WAIT = Duration.ofSeconds(3);

    private final Text name;
    private final int maxWaiting;
    private final LongSupplier nanoTime;
    private final Function<C, Object> unit;
    private final Function<List<C>, Future<List<R>>> statement;
    private final Deque<Waiting<C, R>> queue = new ArrayDeque<>();
    private boolean busy;

    private record Waiting<C, R>(C command, long deadlineNanos, CompletableFuture<R> answer) {}

    /**
     * @param name of the commands in the log and in refusals; a plural
     * @param maxWaiting how many may wait; further ones are refused as overloaded
     * @param unit the thing that two commands of one statement must not share, since the statement judges it once: a wallet's
     *     balance, for example
     * @param statement sends 1 to 256 commands and returns their answers in order. It fails if it changed nothing, or if its
     *     effect is unknown
     */
    public GatheredCommands(
            Text name, int maxWaiting, Function<C, Object> unit, Function<List<C>, Future<List<R>>> statement) {
        this(name, maxWaiting, unit, statement, System::nanoTime);
    }

    GatheredCommands(
            Text name,
            int maxWaiting,
            Function<C, Object> unit,
            Function<List<C>, Future<List<R>>> statement,
            LongSupplier nanoTime) {
        this.name = name;
        this.maxWaiting = maxWaiting;
        this.nanoTime = nanoTime;
        this.unit = unit;
        this.statement = statement;
    }

    /** Sends a command. Fails with {@link UnavailableException} if too many wait or it waited too long, else as its statement. */
    public Future<R> submit(C command) {
        var waiting = new Waiting<C, R>(command, nanoTime.getAsLong() + MAX_WAIT.toNanos(), new CompletableFuture<>());
        synchronized (this) {
            if (queue.size() >= maxWaiting) {
                return Future.failedFuture(overloaded());
            }
            queue.add(waiting);
        }
        flush();
        Context caller = Vertx.currentContext();
        return caller == null
                ? Future.fromCompletionStage(waiting.answer)
                : Future.fromCompletionStage(waiting.answer, caller);
    }

    /** Commands that no statement has taken yet. */
    public synchronized int waiting() {
        return queue.size();
    }

    private UnavailableException overloaded() {
        return UnavailableException.overloaded(Text.of("overloaded.waiting", name));
    }

    private void flush() {
        late().forEach(waiting -> waiting.answer.completeExceptionally(overloaded()));
        List<Waiting<C, R>> batch = next();
        if (!batch.isEmpty()) {
            run(batch).onComplete(done -> {
                synchronized (this) {
                    busy = false;
                }
                flush();
            });
        }
    }

    /** Removes the commands that waited too long; they stand first. */
    private synchronized List<Waiting<C, R>> late() {
        List<Waiting<C, R>> late = new ArrayList<>();
        long now = nanoTime.getAsLong();
        while (!busy && !queue.isEmpty() && queue.getFirst().deadlineNanos - now < 0) {
            late.add(queue.removeFirst());
        }
        return late;
    }

    private synchronized List<Waiting<C, R>> next() {
        List<Waiting<C, R>> batch = new ArrayList<>();
        if (busy) {
            return batch;
        }
        Set<Object> units = new HashSet<>();
        for (Iterator<Waiting<C, R>> all = queue.iterator(); all.hasNext() && batch.size() < BATCH; ) {
            Waiting<C, R> waiting = all.next();
            if (units.add(unit.apply(waiting.command))) {
                batch.add(waiting);
                all.remove();
            }
        }
        busy = !batch.isEmpty();
        return batch;
    }

    /** Answers all commands of a batch; never fails. */
    private Future<Void> run(List<Waiting<C, R>> batch) {
        // Composed: a statement that throws must not block later commands.
        List<C> commands = batch.stream().map(Waiting::command).toList();
        return Future.succeededFuture(commands).compose(statement).transform(done -> {
            if (done.failed() && batch.size() > 1 && mayBeOnesFault(done.cause())) {
                LOG.warn(
                        "{} {} were refused together and are tried one by one: {}",
                        batch.size(),
                        name,
                        done.cause().toString());
                Future<Void> alone = Future.succeededFuture();
                for (Waiting<C, R> waiting : batch) {
                    alone = alone.compose(before -> run(List.of(waiting)));
                }
                return alone;
            }
            for (int i = 0; i < batch.size(); i++) {
                CompletableFuture<R> answer = batch.get(i).answer;
                if (done.succeeded()) {
                    answer.complete(done.result().get(i));
                } else {
                    answer.completeExceptionally(done.cause());
                }
            }
            return Future.succeededFuture();
        });
    }

    private static boolean mayBeOnesFault(Throwable fault) {
        return SqlState.isRefusal(fault)
                && (SqlState.isLocked(fault) || SqlState.isDamage(fault) || !SqlState.isOutage(fault));
    }
}
