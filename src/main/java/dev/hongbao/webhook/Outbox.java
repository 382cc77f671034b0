package dev.hongbao.webhook;

import dev.hongbao.config.WebConfig.WebhooksConfig;
import dev.hongbao.http.CallsInFlight;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.store.postgres.Postgres;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** The outbox and the webhooks of a server. Thread-safe. */
public final class Outbox {
    /** The types of events, as the rows and the contract name them. */
    public static final List<String> TYPES = List.of(
            "packet.sent",
            "packet.drained",
            "packet.expired",
            "packet.refunded",
            "claim.settled",
            "play.settled",
            "draw.opened",
            "draw.closed",
            "fulfilment.changed",
            "campaign.created",
            "campaign.raised",
            "campaign.paused",
            "campaign.resumed",
            "campaign.ended",
            "rain.created",
            "rain.ended",
            "transfer.deposit",
            "transfer.withdrawal",
            "transfer.cost",
            "transfer.return",
            "transfer.reversal",
            "user.frozen",
            "user.unfrozen",
            "user.blocked",
            "user.unblocked",
            "group.blocked",
            "group.unblocked");

    /** An old webhook secret still signs for a day, so that receivers can learn the new one. */
    private static final Duration SECRET_OVERLAP = Duration.ofDays(1);

    final OutboxReader reader;
    final Webhooks webhooks;
    final WebhookProbe probe;
    private final OutboxHead head;
    private final WebhookStore store;
    private final WebhooksConfig config;
    private final Clock clock;

    /**
     * @param requests for changes of webhooks
     * @param pool for reads of the outbox
     * @param shards of the installation
     * @param clock of messages
     */
    public Outbox(Vertx vertx, Pool requests, Pool pool, int shards, WebhooksConfig config, Clock clock) {
        this.config = config;
        this.clock = clock;
        this.head = new OutboxHead(pool, shards);
        this.reader = new OutboxReader(pool, head);
        this.store = new WebhookStore(pool);
        this.webhooks = new Webhooks(requests, reader, SECRET_OVERLAP, new AddressGuard(config.privateNetworks()));
        this.probe = new WebhookProbe(vertx, webhooks, config, clock);
    }

    /** Inserts the outbox's own row, before the first event. Idempotent. */
    public Future<Void> establish() {
        return head.establish();
    }

    /** The age of the oldest event that an enabled webhook waits for, in seconds. */
    public static Future<Double> lagSeconds(Pool pool) {
        return new WebhookStore(pool).lag().map(WebhookStore.Lag::seconds);
    }

    /** Removes the oldest attempts of each webhook. */
    public Future<Void> trim() {
        return store.trim();
    }

    /** The routes of webhooks and the outbox, by {@code operationId}, on the current event loop. @param inFlight limits reads without a wait */
    public Map<String, Route> routes(Vertx vertx, CallsInFlight inFlight, HttpFace face) {
        return WebhookRoutes.of(vertx, this, inFlight, face);
    }

    /** Delivers to the webhooks. Deploy one. */
    public Deployable courier(Postgres postgres, MeterRegistry metrics) {
        return new WebhookVerticle(postgres, reader, store, config, new WebhookMetrics(metrics), clock);
    }

    /** Follows the outbox of a database. Confined to its event loop. */
    public static final class Tail {
        private static final Duration WAIT = Duration.ofSeconds(20);
        private static final Set<String> ALL = Set.copyOf(TYPES);

        private final Vertx vertx;
        private final OutboxReader reader;
        private final Consumer<String> out;
        private final Promise<Void> end = Promise.promise();
        private long left;

        private Tail(Vertx vertx, OutboxReader reader, Consumer<String> out, long most) {
            this.vertx = vertx;
            this.reader = reader;
            this.out = out;
            this.left = most;
        }

        /**
         * Reads events until {@code most} of them, on the current event loop.
         *
         * @param pool of two connections or more
         * @param all from the oldest kept event; else from now
         * @param out receives each as the schema {@code OutboxEvent}
         */
        public static Future<Void> follow(Vertx vertx, Pool pool, boolean all, long most, Consumer<String> out) {
            return pool.query("select count(*) from shard")
                    .execute()
                    .map(rows -> new OutboxReader(
                            pool, new OutboxHead(pool, rows.iterator().next().getInteger(0))))
                    .compose(reader -> (all ? reader.oldest() : reader.latest()).compose(cursor -> {
                        Tail tail = new Tail(vertx, reader, out, most);
                        tail.follow(cursor);
                        return tail.end.future();
                    }));
        }

        private void follow(OutboxCursor after) {
            int most = (int) Math.min(left, OutboxReader.MAX_EVENTS);
            OutboxPoll.begin(vertx, reader, after, ALL, most, WAIT)
                    .page()
                    .onFailure(end::fail)
                    .onSuccess(page -> {
                        page.events().forEach(event -> out.accept(event.json()));
                        left -= page.events().size();
                        if (left == 0) {
                            end.complete();
                        } else {
                            follow(page.next());
                        }
                    });
        }
    }
}
