package dev.hongbao.domain.reconcile;

import dev.hongbao.engine.journal.JournalEntry;
import dev.hongbao.engine.journal.JournalFormat;
import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.JournalReader;
import dev.hongbao.engine.journal.ShardAudit;
import dev.hongbao.engine.journal.ShardAudit.Differences;
import dev.hongbao.engine.redis.RedisInfo;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Holds Redis to Postgres: each shard has its journal, nothing settled is left in it for long, and each mode finds its keys as they
 * have to be ({@link ShardAudit}). On a server at work the two are read a moment apart, so a shard with a difference is read
 * again, some times, before the difference counts. Of a shard that is at work in each of these looks no difference counts: the two are never
 * read of one moment there, and a look when it is quieter tells.
 *
 * <p>A shard without a journal, or in another Redis than the one its generation was written into, has no live generation:
 * its owner recovers it as soon as it looks, so that its differences heal. So does a key that is not there: whoever needs it first
 * has the shard recovered.
 */
final class RedisAudit {
    private static final int TRIES = 20;
    private static final long RETRY_MILLIS = 100;
    private static final int PAGE_ENTRIES = 1_000;

    /** More are not compared: they would have to be remembered all at once. Ten times what a server lets wait. */
    private static final int MAX_UNSETTLED = 100_000;

    private final Vertx vertx;
    private final Pool pool;
    private final RedisLinks redis;
    private final String namespace;
    private final JournalReader reader;
    private final List<ShardAudit.Factory> audits;

    /**
     * @param formats of all that the journals may hold
     * @param audits one of each mode
     */
    RedisAudit(
            Vertx vertx,
            Pool pool,
            RedisLinks redis,
            String namespace,
            Collection<JournalFormat> formats,
            List<ShardAudit.Factory> audits) {
        this.vertx = vertx;
        this.pool = pool;
        this.redis = redis;
        this.namespace = namespace;
        this.reader = new JournalReader(redis, formats);
        this.audits = List.copyOf(audits);
    }

    /** What is to be compared, and what was found of it. */
    private record Look(
            Generation generation, long cursor, List<ShardAudit> audits, List<String> missing, List<String> wrong) {}

    /** All differences that stay; call on the links' event loop. */
    Future<List<Finding>> run() {
        return pool.query("select id from shard where epoch > 0 order by id")
                .execute()
                .compose(rows -> {
                    List<Integer> shards = new ArrayList<>();
                    rows.forEach(row -> shards.add(row.getInteger("id")));
                    return audit(shards, TRIES);
                })
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

    /** One shard after the other, since a look may hold much; those that differ wait together for their next one. */
    private Future<Collection<Differences>> audit(Collection<Integer> shards, int tries) {
        Map<Integer, Differences> found = new LinkedHashMap<>();
        Future<Void> done = Future.succeededFuture();
        for (int shard : shards) {
            done = done.compose(before -> look(shard)).map(differences -> {
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
                    RETRY_MILLIS, later -> audit(found.keySet(), tries - 1).onComplete(again));
            return again.future();
        });
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
                                    : lastEntry(generation)
                                            .compose(last -> compare(generation, row.getLong("last_seq"))
                                                    .compose(found -> ifStill(generation, last, found)))
                                            .compose(found -> judged(generation, row.getString("replid"), found)));
                });
    }

    /** The id of the last entry that was ever written; empty for a journal that is gone. */
    private Future<String> lastEntry(Generation generation) {
        return generation
                .link(redis)
                .send(Request.cmd(Command.XINFO).arg("STREAM").arg(generation.journalKey()))
                .map(info -> info.get("last-generated-id").toString())
                .otherwise("");
    }

    /** What was accepted during the look is a difference, and none that counts. @param last the last entry before the look */
    private Future<Differences> ifStill(Generation generation, String last, Differences found) {
        return found.wrong().isEmpty()
                ? Future.succeededFuture(found)
                : lastEntry(generation).map(now -> now.equals(last) ? found : found.excused(" (as it was at work)"));
    }

    /** In another Redis than the generation was written into nothing is wrong: all of it is missing. */
    private Future<Differences> judged(Generation generation, String replid, Differences found) {
        return found.wrong().isEmpty()
                ? Future.succeededFuture(found)
                : RedisInfo.read(generation.link(redis), "replication")
                        .map(info -> info.get("master_replid").equals(replid) ? found : found.excused(""));
    }

    private Future<Differences> compare(Generation generation, long cursor) {
        Look look = new Look(
                generation,
                cursor,
                audits.stream()
                        .map(audit -> audit.of(pool, generation.link(redis), generation))
                        .toList(),
                new ArrayList<>(),
                new ArrayList<>());
        return readJournal(look, 0, 0).compose(unsettled -> {
            if (unsettled > MAX_UNSETTLED) {
                look.wrong.add(generation + " has more than " + MAX_UNSETTLED
                        + " unsettled claims: compare it once they are settled");
                return Future.succeededFuture(new Differences(look.missing, look.wrong));
            }
            Future<Void> done = Future.succeededFuture();
            for (ShardAudit audit : look.audits) {
                done = done.compose(before -> audit.differences()).map(differences -> {
                    look.missing.addAll(differences.missing());
                    look.wrong.addAll(differences.wrong());
                    return null;
                });
            }
            return done.map(compared -> new Differences(look.missing, look.wrong));
        });
    }

    /** Collects what is not settled; @return how many items that are, no more than a page beyond {@link #MAX_UNSETTLED} */
    private Future<Integer> readJournal(Look look, long afterSeq, int before) {
        Generation generation = look.generation;
        return reader.read(generation, generation.journalKey(), afterSeq, PAGE_ENTRIES)
                .compose(entries -> {
                    int unsettled = before;
                    long last = afterSeq;
                    for (JournalEntry entry : entries) {
                        last = entry.seq();
                        if (entry.seq() <= look.cursor) {
                            look.wrong.add(generation + " entry " + generation.entryId(entry.seq())
                                    + " is settled but still in the journal");
                        } else {
                            unsettled += collect(entry, look);
                        }
                    }
                    return entries.size() < PAGE_ENTRIES || unsettled > MAX_UNSETTLED
                            ? Future.succeededFuture(unsettled)
                            : readJournal(look, last, unsettled);
                });
    }

    /** @return how many items that were */
    private static int collect(JournalEntry entry, Look look) {
        int items = 0;
        for (JournalItem item : entry.items()) {
            look.audits.forEach(audit -> audit.unsettled(item));
            items += item.size();
        }
        return items;
    }
}
