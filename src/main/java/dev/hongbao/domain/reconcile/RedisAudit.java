package dev.hongbao.domain.reconcile;

import dev.hongbao.domain.draw.DrawRedisAudit;
import dev.hongbao.engine.redis.RedisInfo;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Holds Redis to Postgres: each shard has its journal, nothing settled is left in it for long, the hash of every open packet
 * is exactly its settled claims and those in the journal, and so is every open draw ({@link DrawRedisAudit}). On a server at work the two are read a moment apart, so a
 * shard with a difference is read again, some times, before the difference counts.
 *
 * <p>A shard without a journal, or in another Redis than the one its generation was written into, has no live generation:
 * its owner recovers it as soon as it looks, so that its differences heal.
 *
 * <p>Reads in pages: of the journal, of packets by their claims, and one packet's hash at a time.
 */
final class RedisAudit {
    private static final int TRIES = 20;
    private static final long RETRY_MILLIS = 100;
    private static final int PAGE_PACKETS = 500;
    private static final int PAGE_CLAIMS = 200_000;
    private static final int PAGE_ENTRIES = 1_000;

    /** More are not compared: they would have to be remembered all at once. Ten times what a server lets wait. */
    private static final int MAX_UNSETTLED = 100_000;

    /** Offset 0 keeps Postgres from joining all claims there are: each packet's are read through their index. */
    private static final String OPEN_PACKETS = """
            select p.id, array_agg(w.owner order by c.slot) filter (where c.slot is not null) as users,
                   array_agg(c.slot order by c.slot) filter (where c.slot is not null) as slots
            from (select id from (select id, sum(count) over (order by id) - count as before
                                  from (select id, count from packet
                                        where shard = $1 and closed_at is null and id > $2
                                          and not exists (select from quarantine_unit as q where q.id = packet.id)
                                        order by id limit $3) as next) as page
                  where before < $4) as p
            left join lateral (select slot, credit from transfer
                               where packet = p.id and slot is not null offset 0) as c on true
            left join account as w on w.id = c.credit
            group by p.id order by p.id
            """;

    private final Vertx vertx;
    private final Pool pool;
    private final RedisLink redis;
    private final String namespace;

    RedisAudit(Vertx vertx, Pool pool, RedisLink redis, String namespace) {
        this.vertx = vertx;
        this.pool = pool;
        this.redis = redis;
        this.namespace = namespace;
    }

    /**
     * The differences of one shard.
     *
     * @param heals whether the shard has no live generation
     */
    private record Differences(boolean heals, List<String> lines) {}

    /** What is to be compared. */
    private record Look(
            Generation generation,
            long cursor,
            Map<String, Map<String, Integer>> unsettled,
            Set<String> closing,
            DrawRedisAudit draws,
            List<String> found) {}

    /** All differences that stay; call on the link's event loop. */
    Future<List<Finding>> run() {
        List<String> violations = new ArrayList<>();
        List<String> healing = new ArrayList<>();
        return pool.query("select id from shard where epoch > 0 order by id")
                .execute()
                .compose(rows -> {
                    Future<Void> done = Future.succeededFuture();
                    for (Row row : rows) {
                        int shard = row.getInteger("id");
                        done = done.compose(before -> audit(shard, TRIES)).map(found -> {
                            (found.heals ? healing : violations).addAll(found.lines);
                            return null;
                        });
                    }
                    return done;
                })
                .map(done -> List.of(
                        new Finding(
                                "I9", "Redis holds what Postgres and the journal say", Severity.VIOLATION, violations),
                        new Finding("I9", "every shard has a live generation in Redis", Severity.HEALS, healing)));
    }

    private Future<Differences> audit(int shard, int tries) {
        return look(shard).compose(found -> {
            if (found.lines.isEmpty() || tries == 1) {
                return Future.succeededFuture(found);
            }
            Promise<Differences> again = Promise.promise();
            vertx.setTimer(RETRY_MILLIS, later -> audit(shard, tries - 1).onComplete(again));
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
                    return redis.send(Request.cmd(Command.EXISTS).arg(generation.journalKey()))
                            .compose(exists -> exists.toInteger() == 0
                                    ? Future.succeededFuture(
                                            new Differences(true, List.of(generation + " has no journal")))
                                    : compare(generation, row.getLong("last_seq"))
                                            .compose(lines -> differences(row.getString("replid"), lines)));
                });
    }

    private Future<Differences> differences(String replid, List<String> lines) {
        return lines.isEmpty()
                ? Future.succeededFuture(new Differences(false, lines))
                : RedisInfo.read(redis, "replication")
                        .map(info -> new Differences(!info.get("master_replid").equals(replid), lines));
    }

    private Future<List<String>> compare(Generation generation, long cursor) {
        Look look = new Look(
                generation,
                cursor,
                new HashMap<>(),
                new HashSet<>(),
                new DrawRedisAudit(pool, redis, generation),
                new ArrayList<>());
        return readJournal(look, "-", 0).compose(unsettled -> {
            if (unsettled > MAX_UNSETTLED) {
                look.found.add(generation + " has more than " + MAX_UNSETTLED
                        + " unsettled claims: compare it once they are settled");
                return Future.succeededFuture(look.found);
            }
            return comparePackets(look, new UUID(0, 0))
                    .compose(done -> look.draws.differences())
                    .map(found -> {
                        look.found.addAll(found);
                        return look.found;
                    });
        });
    }

    /** Collects what is not settled; @return how many items that are, no more than a page beyond {@link #MAX_UNSETTLED} */
    private Future<Integer> readJournal(Look look, String from, int before) {
        return redis.send(Request.cmd(Command.XRANGE)
                        .arg(look.generation.journalKey())
                        .arg(from)
                        .arg("+")
                        .arg("COUNT")
                        .arg(PAGE_ENTRIES))
                .compose(entries -> {
                    int unsettled = before;
                    String last = from;
                    for (Response entry : entries) {
                        last = entry.get(0).toString();
                        long seq = Long.parseLong(last.substring(last.indexOf('-') + 1));
                        if (seq <= look.cursor && seq > 0) {
                            look.found.add(look.generation + " entry " + last + " is settled but still in the journal");
                        } else if (seq > look.cursor) {
                            unsettled += collect(entry.get(1), look);
                        }
                    }
                    return entries.size() < PAGE_ENTRIES || unsettled > MAX_UNSETTLED
                            ? Future.succeededFuture(unsettled)
                            : readJournal(look, "(" + last, unsettled);
                });
    }

    /** @return how many items that were */
    private static int collect(Response fields, Look look) {
        int items = 0;
        for (int i = 0; i + 1 < fields.size(); i += 2) {
            String[] words = fields.get(i + 1).toString().split(" ");
            if (fields.get(i).toString().equals("play")) {
                look.draws.unsettled(fields.get(i + 1).toString());
                items++;
            } else if (fields.get(i).toString().equals("close")) {
                look.closing.add(words[0]);
                items++;
            } else if (fields.get(i).toString().equals("end") && words[1].equals("-")) {
                look.draws.ending(words[0]);
                items++;
            } else if (fields.get(i).toString().equals("claim") && words.length > 2) {
                Map<String, Integer> users = look.unsettled.computeIfAbsent(words[0], packet -> new HashMap<>());
                int first = Integer.parseInt(words[1]);
                for (int w = 2; w < words.length; w++) {
                    users.put(words[w], first + w - 2);
                    items++;
                }
            }
        }
        return items;
    }

    private Future<Void> comparePackets(Look look, UUID after) {
        return pool.preparedQuery(OPEN_PACKETS)
                .execute(Tuple.of((short) look.generation.shard(), after, PAGE_PACKETS, PAGE_CLAIMS))
                .compose(rows -> {
                    Future<Void> compared = Future.succeededFuture();
                    UUID last = after;
                    for (Row row : rows) {
                        last = row.getUUID("id");
                        compared = compared.compose(before -> comparePacket(look, row));
                    }
                    UUID next = last;
                    return compared.compose(
                            all -> rows.rowCount() == 0 ? Future.succeededFuture() : comparePackets(look, next));
                });
    }

    private Future<Void> comparePacket(Look look, Row row) {
        String packet = row.getUUID("id").toString();
        Map<String, Integer> expected = new HashMap<>(look.unsettled.getOrDefault(packet, Map.of()));
        String[] users = row.getArrayOfStrings("users");
        Integer[] slots = row.getArrayOfIntegers("slots");
        for (int i = 0; users != null && i < users.length; i++) {
            expected.put(users[i], slots[i]);
        }
        return redis.send(Request.cmd(Command.HGETALL).arg(look.generation.packetKey(packet)))
                .map(hash -> {
                    Map<String, Integer> held = new HashMap<>();
                    int next = -1;
                    boolean closed = false;
                    for (String field : hash.getKeys()) {
                        int value = hash.get(field).toInteger();
                        if (field.equals("#")) {
                            next = value;
                        } else if (field.equals("!")) {
                            closed = true;
                        } else {
                            held.put(field, value);
                        }
                    }
                    if (closed && !look.closing.contains(packet)) {
                        look.found.add("packet " + packet
                                + " is closed in Redis, open in Postgres, and the journal has no close of it");
                    }
                    if (next != expected.size() || !held.equals(expected)) {
                        look.found.add("packet " + packet + ": Redis holds " + held.size() + " slots, next " + next
                                + "; Postgres and the journal " + expected.size());
                    }
                    return null;
                });
    }
}
