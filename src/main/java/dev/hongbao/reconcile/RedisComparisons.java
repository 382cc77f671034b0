package dev.hongbao.reconcile;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.JournalEntry;
import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.JournalEntry.JournalReader;
import dev.hongbao.engine.Mode.RedisComparison;
import dev.hongbao.engine.Mode.RedisComparison.Differences;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.store.redis.RedisLink.RedisInfo;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Compares Redis with Postgres. Each shard must have its journal, without settled entries that stay, and each mode checks its keys ({@link
 * RedisComparison}). On a working server the two are read a moment apart. So each comparison reads before and after, and a difference that
 * it calls wrong is real, however busy the shard is. A shard with a difference is read again some times before it counts.
 *
 * <p>A shard without a journal, or in another Redis than its generation's, has no live generation. Its owner recovers it, so its
 * differences heal. A missing key heals too: the first request for it starts the recovery.
 */
final class RedisComparisons {
    private static final int TRIES = 20;
    private static final long RETRY_MILLIS = 100;
    private static final int PAGE_ENTRIES = 1_000;

    /** The most unsettled claims compared, since all are kept in memory. Ten times a server's limit of waiting claims. */
    private static final int MAX_UNSETTLED = 100_000;

    private final Vertx vertx;
    private final Pace pace;
    private final Pool pool;
    private final RedisLinks redis;
    private final String namespace;
    private final JournalReader reader;
    private final List<RedisComparison.Factory> comparisons;

    /** By shard, the settled entries that were in the journal at the last read. */
    private final Map<Integer, Set<String>> settled = new HashMap<>();

    /**
     * @param formats of all items in the journals
     * @param comparisons one of each mode
     */
    RedisComparisons(
            Vertx vertx,
            Pace pace,
            Pool pool,
            RedisLinks redis,
            String namespace,
            Collection<JournalItem.Format> formats,
            List<RedisComparison.Factory> comparisons) {
        this.vertx = vertx;
        this.pace = pace;
        this.pool = pool;
        this.redis = redis;
        this.namespace = namespace;
        this.reader = new JournalReader(redis, formats);
        this.comparisons = List.copyOf(comparisons);
    }

    /** All differences that stay. Call it on the links' event loop. */
    Future<List<Finding>> run() {
        return pool.query("select id from shard where epoch > 0 order by id")
                .execute()
                .compose(rows -> compare(Rows.list(rows, row -> row.getInteger("id")), TRIES))
                .map(found -> List.of(
                        new Finding(
                                "I9",
                                "Redis holds what Postgres and the journal say",
                                Severity.VIOLATION,
                                lines(found, Differences::wrong)),
                        new Finding(
                                "I9",
                                "every shard has a live generation in Redis, with a key for all that is open",
                                Severity.HEALS,
                                lines(found, Differences::missing))));
    }

    private static List<String> lines(Collection<Differences> found, Function<Differences, List<String>> of) {
        return found.stream().flatMap(each -> of.apply(each).stream()).toList();
    }

    /** One shard after the other, since one read may be large. All shards that differ wait together for their next read. */
    private Future<Collection<Differences>> compare(Collection<Integer> shards, int tries) {
        Map<Integer, Differences> found = new LinkedHashMap<>();
        Future<Void> done = Future.succeededFuture();
        for (int shard : shards) {
            done = done.compose(before -> pace.piece(() -> look(shard))).map(differences -> {
                if (!differences.missing().isEmpty() || !differences.wrong().isEmpty()) {
                    found.put(shard, differences);
                }
                return null;
            });
        }
        return done.compose(all -> {
            if (found.isEmpty() || tries == 1) {
                return Future.succeededFuture(found.values());
            }
            Promise<Collection<Differences>> again = Promise.promise();
            vertx.setTimer(
                    RETRY_MILLIS, later -> compare(found.keySet(), tries - 1).onComplete(again));
            return again.future();
        });
    }

    /** Reports a key of the wrong type, or a text in place of a number. */
    private static Future<Differences> unreadable(Generation generation, Throwable fault) {
        return fault instanceof NumberFormatException || RedisFault.isWrongType(fault)
                ? Future.succeededFuture(new Differences(
                        List.of(), List.of(generation + " has a key that cannot be read: " + fault.getMessage())))
                : Future.failedFuture(fault);
    }

    private Future<Differences> look(int shard) {
        return pool.preparedQuery("select epoch, nonce, last_seq, replid from shard where id = $1")
                .execute(Tuple.of((short) shard))
                .map(rows -> rows.iterator().next())
                .compose(row -> {
                    Generation generation =
                            new Generation(namespace, shard, row.getLong("epoch"), row.getString("nonce"));
                    return generation
                            .link(redis)
                            .send(Request.cmd(Command.EXISTS).arg(generation.journalKey()))
                            .compose(exists -> exists.toInteger() == 0
                                    ? Future.succeededFuture(
                                            new Differences(List.of(generation + " has no journal"), List.of()))
                                    : compare(generation, row.getLong("last_seq"))
                                            .compose(found -> judged(generation, row.getString("replid"), found))
                                            .recover(fault -> unreadable(generation, fault)));
                });
    }

    /** After a recovery, or in another Redis than the generation's, wrong keys count as missing. */
    private Future<Differences> judged(Generation generation, String replid, Differences found) {
        if (found.wrong().isEmpty()) {
            return Future.succeededFuture(found);
        }
        return Future.all(
                        RedisInfo.read(generation.link(redis), "replication"),
                        pool.preparedQuery("select from shard where id = $1 and epoch = $2 and nonce = $3")
                                .execute(Tuple.of((short) generation.shard(), generation.epoch(), generation.nonce())))
                .map(all -> all.<RedisInfo>resultAt(0).get("master_replid").equals(replid)
                                && all.<RowSet<Row>>resultAt(1).rowCount() == 1
                        ? found
                        : found.excused());
    }

    private Future<Differences> compare(Generation generation, long cursor) {
        List<String> missing = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        List<RedisComparison> all = comparisons.stream()
                .map(comparison -> comparison.of(pool, generation.link(redis), generation))
                .toList();
        return readJournal(generation)
                .compose(entries -> {
                    List<JournalEntry> unsettled = new ArrayList<>();
                    Set<String> settledNow = new HashSet<>();
                    Set<String> settledBefore = settled.getOrDefault(generation.shard(), Set.of());
                    for (JournalEntry entry : entries) {
                        if (entry.seq() > cursor) {
                            unsettled.add(entry);
                            continue;
                        }
                        String line = generation + " entry " + generation.entryId(entry.seq())
                                + " is settled but still in the journal";
                        settledNow.add(line);
                        // An entry may stay for a moment after its settlement.
                        (settledBefore.contains(line) ? wrong : missing).add(line);
                    }
                    settled.put(generation.shard(), settledNow);
                    List<JournalItem> before = items(unsettled).toList();
                    if (before.stream().mapToInt(JournalItem::size).sum() > MAX_UNSETTLED) {
                        missing.add(generation + " has more than " + MAX_UNSETTLED
                                + " unsettled claims: run reconcile again once they are settled");
                        return Future.succeededFuture();
                    }
                    Future<Void> done = Future.succeededFuture();
                    for (RedisComparison comparison : all) {
                        done = done.compose(earlier -> comparison.differences(
                                        before,
                                        () -> readJournal(generation)
                                                .map(now -> items(now).toList())))
                                .map(differences -> {
                                    missing.addAll(differences.missing());
                                    wrong.addAll(differences.wrong());
                                    return null;
                                });
                    }
                    return done;
                })
                .map(compared -> new Differences(missing, wrong));
    }

    private static Stream<JournalItem> items(List<JournalEntry> entries) {
        return entries.stream().flatMap(entry -> entry.items().stream());
    }

    /** All entries of the journal; stops after {@link #MAX_UNSETTLED} items. */
    private Future<List<JournalEntry>> readJournal(Generation generation) {
        List<JournalEntry> all = new ArrayList<>();
        return Pages.each(
                        0L,
                        after -> reader.read(generation, generation.journalKey(), after, PAGE_ENTRIES),
                        page -> page.size() < PAGE_ENTRIES
                                        || items(all)
                                                        .mapToInt(JournalItem::size)
                                                        .sum()
                                                > MAX_UNSETTLED
                                ? null
                                : page.get(page.size() - 1).seq(),
                        page -> {
                            all.addAll(page);
                            return Future.succeededFuture();
                        })
                .map(read -> all);
    }
}
