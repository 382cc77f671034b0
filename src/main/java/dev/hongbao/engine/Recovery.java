package dev.hongbao.engine;

import dev.hongbao.engine.BatchSettler.SettlementBatch;
import dev.hongbao.engine.JournalEntry.JournalReader;
import dev.hongbao.engine.Mode.ShardLoader;
import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives a shard a new generation: its state in Redis is rewritten from Postgres. Only the shard's owner runs it. After a failure
 * at any step it may start again from the beginning.
 */
final class Recovery {
    private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

    private final Pool pool;
    private final RedisLinks redis;
    private final RedisWatch watch;
    private final KeySweep sweep;
    private final ShardStore store;
    private final Shards shards;
    private final JournalReader reader;
    private final List<ShardLoader> loaders;
    private final Function<SettlementBatch, Future<Integer>> settle;

    /**
     * @param pool for the pages of the load. Its statements may take minutes, so a silent connection is noticed only after
     *     minutes
     * @param settle settles a batch as the writer does, see {@link BatchSettler#settle}
     */
    Recovery(
            Pool pool,
            RedisWatch watch,
            KeySweep sweep,
            Shards shards,
            JournalReader reader,
            List<ShardLoader> loaders,
            Function<SettlementBatch, Future<Integer>> settle) {
        this.pool = pool;
        this.redis = watch.redis();
        this.watch = watch;
        this.sweep = sweep;
        this.store = shards.store();
        this.shards = shards;
        this.reader = reader;
        this.loaders = List.copyOf(loaders);
        this.settle = settle;
    }

    /**
     * Recovers the shard out of {@code broken}.
     *
     * @param remembered the cursor that this server knows to be committed; -1 for none
     * @return the generation and cursor to settle from: a new generation at cursor 0, or the result of another recovery meanwhile
     */
    Future<ShardRow> run(Generation broken, long remembered) {
        return removeStrange(broken)
                .compose(removed -> retireJournal(broken))
                // The cursor is read after the journal: entries that were trimmed before had been settled.
                .compose(retired -> watch.trimmedUpTo(broken.retiredJournalKey()))
                .compose(trimmed -> watch.latestEpoch(broken)
                        .compose(inRedis -> store.readSettled(broken.shard()).compose(row -> {
                            if (!row.generation().equals(broken)) {
                                return Future.succeededFuture(row);
                            }
                            Generation known = shards.current(broken.shard()).generation();
                            long latest = Math.max(inRedis, shards.latestEpoch(broken.shard()));
                            boolean wentBack = latest > broken.epoch()
                                    || latest > 0 && latest == known.epoch() && !known.equals(broken)
                                    || Math.max(trimmed, remembered) > row.lastSeq();
                            return replace(row, latest, wentBack);
                        })));
    }

    /** Whether by Postgres the unit of a key is over: then Redis may lack the key. */
    Future<Boolean> isOver(Generation generation, String key) {
        return Future.all(loaders.stream()
                        .map(loader -> loader.over(pool, generation, List.of(key)))
                        .toList())
                .map(over -> over.<List<String>>list().stream().anyMatch(keys -> !keys.isEmpty()));
    }

    private Future<ShardRow> replace(ShardRow row, long latest, boolean wentBack) {
        Generation broken = row.generation();
        if (wentBack) {
            LOG.error(
                    "Postgres went back in time: it knows {} up to entry {}, but later entries were settled; their"
                            + " settlement is lost",
                    broken,
                    row.lastSeq());
        }
        return settleRetired(broken, row.lastSeq(), row.aside())
                .compose(settled -> store.installation()
                        .claim(redis, broken.shard())) // an emptied Redis may belong to another installation by now
                .compose(ours -> watch.replid(broken))
                .compose(replid -> store.drawNext(broken, latest, wentBack, replid))
                .compose(next -> next == null ? adoptOther(broken) : prepare(next));
    }

    /**
     * Another recovery drew the generation while this one ran. Its keys stay untouched: it may be in use already, and a slot
     * counter from the settled claims would give unsettled slots again.
     */
    private Future<ShardRow> adoptOther(Generation broken) {
        return store.readSettled(broken.shard());
    }

    /** Removes a foreign value in the place of a journal. */
    private Future<Void> removeStrange(Generation broken) {
        return Future.all(Stream.of(broken.journalKey(), broken.retiredJournalKey())
                        .map(key -> watch.removeUnless("stream", broken, key))
                        .toList())
                .mapEmpty();
    }

    /** Moves the journal away, so that this generation's scripts find none and accept nothing more. */
    private Future<Void> retireJournal(Generation broken) {
        Request rename = Request.cmd(Command.RENAMENX).arg(broken.journalKey()).arg(broken.retiredJournalKey());
        return broken.link(redis)
                .send(rename)
                .<Void>mapEmpty()
                .recover(fault -> RedisWatch.isNoSuchKey(fault) // lost, or retired before
                        ? Future.succeededFuture()
                        : Future.failedFuture(fault));
    }

    private Future<Void> settleRetired(Generation broken, long cursor, Set<UUID> aside) {
        AtomicLong settled = new AtomicLong(cursor);
        return Pages.repeat(() -> reader.read(broken, broken.retiredJournalKey(), settled.get(), JournalReader.PAGE)
                .compose(entries -> entries.isEmpty()
                        ? Future.succeededFuture(false)
                        : settle(batches(broken, settled.get(), entries, aside)).map(done -> {
                            settled.set(entries.get(entries.size() - 1).seq());
                            return true;
                        })));
    }

    private Future<Void> settle(List<SettlementBatch> batches) {
        Future<Void> done = Future.succeededFuture();
        for (SettlementBatch batch : batches) {
            done = done.compose(before -> settle.apply(batch)).compose(voids -> {
                if (voids > 0) {
                    LOG.error(
                            "recovery of shard {} found {} entries that contradict settled ones: void",
                            batch.shards().get(0),
                            voids);
                }
                return Future.succeededFuture();
            });
        }
        return done;
    }

    /** Runs of entries of one verb. None takes much longer than a settlement of the loop, since others wait behind it. */
    private List<SettlementBatch> batches(
            Generation generation, long cursor, List<JournalEntry> entries, Set<UUID> aside) {
        List<SettlementBatch> batches = new ArrayList<>();
        long from = cursor;
        for (int i = 0; i < entries.size(); ) {
            SettlementBatch batch = new SettlementBatch(entries.get(i).verb());
            long to = from;
            for (; isMore(entries, i, batch); i++) {
                batch.add(entries.get(i), aside);
                to = entries.get(i).seq();
            }
            batch.move(generation, from, to);
            batches.add(batch);
            from = to;
        }
        return batches;
    }

    private boolean isMore(List<JournalEntry> entries, int i, SettlementBatch batch) {
        return i < entries.size()
                && entries.get(i).verb().equals(batch.verb())
                && batch.size() < BatchSettler.MAX_ITEMS;
    }

    /**
     * Old keys go first: a nearly full Redis has no room for two generations. The scripts come last. A unit that an operator brought back
     * meanwhile may be loaded, with plays that were decided outside any generation: whoever asked Postgres before would play again.
     */
    private Future<ShardRow> prepare(ShardRow drawn) {
        Generation next = drawn.generation();
        shards.adopt(drawn);
        return sweep.unlinkReplaced(next)
                .compose(gone -> watch.note(next))
                .compose(noted -> load(next))
                .compose(loaded -> store.readSettled(next.shard()))
                .compose(row -> {
                    if (!row.generation().equals(next)) {
                        return abandon(next, row);
                    }
                    return row.lacksUnits()
                            ? Future.failedFuture(new IllegalStateException("a unit came back meanwhile"))
                            : loadScripts(drawn).map(row);
                })
                .recover(fault -> store.readSettled(next.shard())
                        .compose(row ->
                                row.generation().equals(next) ? Future.failedFuture(fault) : abandon(next, row)));
    }

    private Future<Void> load(Generation next) {
        Future<Void> loaded = Future.succeededFuture();
        for (ShardLoader loader : loaders) {
            loaded = loaded.compose(before -> loader.load(pool, next.link(redis), next));
        }
        return loaded.compose(all -> next.link(redis)
                .send(Request.cmd(Command.XADD)
                        .arg(next.journalKey())
                        .arg(next.entryId(0))
                        .arg("open")
                        .arg(next.stamp()))
                .mapEmpty());
    }

    /** Another owner has replaced the generation during its preparation. Without a journal its scripts accept nothing. */
    private Future<ShardRow> abandon(Generation next, ShardRow row) {
        return sweep.unlinkAll(next).map(row);
    }

    /**
     * A method of its own, since chaos stops a server here. Scripts have no key, so a command with one comes first: in a cluster its answer
     * corrects an old map.
     */
    private Future<Void> loadScripts(ShardRow drawn) {
        return watch.latestEpoch(drawn.generation())
                .compose(
                        keyed -> shards.of(drawn).loadScripts(drawn.generation().link(redis)));
    }
}
