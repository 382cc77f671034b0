package dev.hongbao.reconcile;

import dev.hongbao.draw.DrawMirror;
import dev.hongbao.journal.Generation;
import dev.hongbao.redis.RedisLink;
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
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Holds Redis to Postgres: each shard has its journal, nothing settled is left in it for long, the hash of every open packet
 * is exactly its settled claims and those in the journal, and so is every open draw ({@link DrawMirror}). On a server at work the two are read a moment apart, so a
 * shard with a difference is read again, some times, before the difference counts.
 */
final class RedisAudit {
    private static final int TRIES = 20;
    private static final long RETRY_MILLIS = 100;
    private static final int PAGE = 500;

    /** Offset 0 keeps Postgres from joining all claims there are: each packet's are read through their index. */
    private static final String OPEN_PACKETS = """
            select p.id, array_agg(w.owner order by c.slot) filter (where c.slot is not null) as users,
                   array_agg(c.slot order by c.slot) filter (where c.slot is not null) as slots
            from (select id from packet where shard = $1 and closed_at is null and id > $2 order by id limit $3) as p
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

    /** All differences that stay; call on the link's event loop. */
    Future<List<String>> run() {
        List<String> violations = new ArrayList<>();
        return pool.query("select id from shard where epoch > 0 order by id")
                .execute()
                .compose(rows -> {
                    Future<Void> done = Future.succeededFuture();
                    for (Row row : rows) {
                        int shard = row.getInteger("id");
                        done = done.compose(before -> audit(shard, TRIES)).map(found -> {
                            violations.addAll(found);
                            return null;
                        });
                    }
                    return done;
                })
                .map(violations);
    }

    private Future<List<String>> audit(int shard, int tries) {
        return look(shard).compose(found -> {
            if (found.isEmpty() || tries == 1) {
                return Future.succeededFuture(found);
            }
            Promise<List<String>> again = Promise.promise();
            vertx.setTimer(RETRY_MILLIS, later -> audit(shard, tries - 1).onComplete(again));
            return again.future();
        });
    }

    private Future<List<String>> look(int shard) {
        return pool.preparedQuery("select epoch, nonce, last_seq from shard where id = $1")
                .execute(Tuple.of((short) shard))
                .map(rows -> rows.iterator().next())
                .compose(row -> {
                    Generation generation =
                            new Generation(namespace, shard, row.getLong("epoch"), row.getString("nonce"));
                    long cursor = row.getLong("last_seq");
                    return redis.send(Request.cmd(Command.EXISTS).arg(generation.journalKey()))
                            .compose(exists -> exists.toInteger() == 0
                                    ? Future.succeededFuture(List.of(generation + " has no journal"))
                                    : readJournal(generation).compose(entries -> compare(generation, cursor, entries)));
                });
    }

    private Future<List<Response>> readJournal(Generation generation) {
        return redis.send(Request.cmd(Command.XRANGE)
                        .arg(generation.journalKey())
                        .arg("-")
                        .arg("+"))
                .map(reply -> {
                    List<Response> entries = new ArrayList<>();
                    reply.forEach(entries::add);
                    return entries;
                });
    }

    private Future<List<String>> compare(Generation generation, long cursor, List<Response> entries) {
        List<String> violations = new ArrayList<>();
        Map<String, Map<String, Integer>> unsettled = new HashMap<>();
        DrawMirror draws = new DrawMirror(pool, redis, generation);
        for (Response entry : entries) {
            String id = entry.get(0).toString();
            long seq = Long.parseLong(id.substring(id.indexOf('-') + 1));
            if (seq <= cursor && seq > 0) {
                violations.add(generation + " entry " + id + " is settled but still in the journal");
            } else if (seq > cursor) {
                collect(entry.get(1), unsettled, draws);
            }
        }
        return comparePackets(generation, new UUID(0, 0), unsettled, violations)
                .compose(done -> draws.differences())
                .map(found -> {
                    violations.addAll(found);
                    return violations;
                });
    }

    private static void collect(Response fields, Map<String, Map<String, Integer>> unsettled, DrawMirror draws) {
        for (int i = 0; i + 1 < fields.size(); i += 2) {
            String[] words = fields.get(i + 1).toString().split(" ");
            if (fields.get(i).toString().equals("play")) {
                draws.unsettled(fields.get(i + 1).toString());
            } else if (fields.get(i).toString().equals("claim") && words.length > 2) {
                Map<String, Integer> users = unsettled.computeIfAbsent(words[0], packet -> new HashMap<>());
                int first = Integer.parseInt(words[1]);
                for (int w = 2; w < words.length; w++) {
                    users.put(words[w], first + w - 2);
                }
            }
        }
    }

    private Future<Void> comparePackets(
            Generation generation, UUID after, Map<String, Map<String, Integer>> unsettled, List<String> violations) {
        return pool.preparedQuery(OPEN_PACKETS)
                .execute(Tuple.of((short) generation.shard(), after, PAGE))
                .compose(rows -> {
                    List<Future<Void>> compared = new ArrayList<>();
                    UUID last = after;
                    for (Row row : rows) {
                        last = row.getUUID("id");
                        compared.add(comparePacket(generation, row, unsettled, violations));
                    }
                    UUID next = last;
                    return Future.all(compared)
                            .compose(all -> rows.rowCount() < PAGE
                                    ? Future.succeededFuture()
                                    : comparePackets(generation, next, unsettled, violations));
                });
    }

    private Future<Void> comparePacket(
            Generation generation, Row row, Map<String, Map<String, Integer>> unsettled, List<String> violations) {
        String packet = row.getUUID("id").toString();
        Map<String, Integer> expected = new HashMap<>(unsettled.getOrDefault(packet, Map.of()));
        String[] users = row.getArrayOfStrings("users");
        Integer[] slots = row.getArrayOfIntegers("slots");
        for (int i = 0; users != null && i < users.length; i++) {
            expected.put(users[i], slots[i]);
        }
        return redis.send(Request.cmd(Command.HGETALL).arg(generation.packetKey(packet)))
                .map(hash -> {
                    Map<String, Integer> held = new HashMap<>();
                    int next = -1;
                    for (String field : hash.getKeys()) {
                        int value = hash.get(field).toInteger();
                        if (field.equals("#")) {
                            next = value;
                        } else if (!field.equals("!")) {
                            held.put(field, value);
                        }
                    }
                    if (next != expected.size() || !held.equals(expected)) {
                        violations.add("packet " + packet + ": Redis holds " + held.size() + " slots, next " + next
                                + "; Postgres and the journal " + expected.size());
                    }
                    return null;
                });
    }
}
