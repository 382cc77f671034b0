package dev.hongbao.store.postgres;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.internal.command.CommandBase;
import io.vertx.sqlclient.internal.command.CommandResponse;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes one connection when an answer is overdue. Its callers then learn that the connection broke, and the pool makes a new
 * one. The handler stands in the connection's pipeline between the client, which sends commands, and the codec. So it works on
 * every transport, and behind a proxy that acknowledges packets and never answers.
 *
 * <p>A statement that may take minutes is checked earlier: if Postgres no longer executes it, its answer was lost.
 *
 * <p>The effect of a statement on a closed connection is unknown. Confined to the connection's event loop, except for
 * {@link #dropIfSilent} and {@link #cancel}.
 */
final class Deadline extends ChannelDuplexHandler {
    private static final Logger LOG = LoggerFactory.getLogger(Deadline.class);

    /** From a statement, or the answer to the one before it, until the check whether Postgres still executes it. */
    static final Duration ASKED_AFTER = Duration.ofSeconds(10);

    private final String name;
    private final long limitNanos;
    private final PgConnection connection;
    private final Set<Deadline> open;
    private final Supplier<Future<Boolean>> isAtWork;
    private volatile ChannelHandlerContext context;
    private int owed;
    private long owedSince;
    private long heardNanos;
    private boolean watching;

    /**
     * @param name of the pool, for the log
     * @param limit from a statement, or the answer to the one before it, to its own answer
     * @param connection the guarded connection
     * @param open contains this while the connection is open
     * @param isAtWork whether Postgres executes a statement of this connection now. It is asked only if the limit is longer than
     *     {@link #ASKED_AFTER}; its failure proves nothing
     */
    @SuppressWarnings("NullAway.Init") // the context is there once the handler is in the pipeline
    Deadline(
            String name,
            Duration limit,
            PgConnection connection,
            Set<Deadline> open,
            Supplier<Future<Boolean>> isAtWork) {
        this.name = name;
        this.limitNanos = limit.toNanos();
        this.connection = connection;
        this.open = open;
        this.isAtWork = isAtWork;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
        heardNanos = System.nanoTime();
        open.add(this);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext removed) {
        open.remove(this);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (message instanceof CommandBase) {
            if (owed == 0) {
                owedSince = System.nanoTime();
            }
            owed++;
            watch(Math.min(limitNanos, ASKED_AFTER.toNanos()));
        }
        ctx.write(message, promise);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        heardNanos = System.nanoTime();
        if (message instanceof CommandResponse) {
            owed--;
            owedSince = heardNanos;
        }
        ctx.fireChannelRead(message);
    }

    /** One timer for a busy connection, not one for each statement. */
    private void watch(long nanos) {
        if (!watching) {
            watching = true;
            context.executor().schedule(this::look, nanos, TimeUnit.NANOSECONDS);
        }
    }

    private void look() {
        watching = false;
        if (owed == 0) {
            return;
        }
        long since = owedSince;
        long waited = System.nanoTime() - since;
        long next = Math.min(limitNanos, ASKED_AFTER.toNanos());
        if (waited >= limitNanos) {
            giveUp("no answer from Postgres for " + limitNanos / 1_000_000_000 + " s");
        } else if (waited < next) {
            watch(next - waited);
        } else {
            watch(Math.min(limitNanos - waited, next));
            isAtWork.get()
                    .onSuccess(atWork -> context.executor().execute(() -> {
                        if (!atWork && owed > 0 && owedSince == since) {
                            giveUp("an answer of Postgres was lost");
                        }
                    }));
        }
    }

    private void giveUp(String why) {
        if (context.channel().isActive()) {
            LOG.warn("{}: closed a connection of {}", why, name);
            close();
        }
    }

    /** Closes the connection unless it received something in the last {@code silence}. Safe on any thread. */
    void dropIfSilent(Duration silence) {
        context.executor().execute(() -> {
            if (System.nanoTime() - heardNanos >= silence.toNanos()) {
                close();
            }
        });
    }

    /**
     * Asks Postgres to cancel this connection's current statement, if any. Safe on any thread.
     *
     * @return done once Postgres was asked
     */
    Future<Void> cancel() {
        Promise<Void> asked = Promise.promise();
        context.executor().execute(() -> {
            if (owed > 0) {
                connection.cancelRequest().onComplete(asked);
            } else {
                asked.complete();
            }
        });
        return asked.future();
    }

    /** Closes the socket itself: a goodbye of Postgres or TLS would wait for a dead line. Idempotent. */
    void close() {
        if (!context.isRemoved()) {
            context.pipeline().firstContext().close();
        }
    }
}
