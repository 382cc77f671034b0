package dev.hongbao.domain.draw;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.DrawState.Issued;
import dev.hongbao.domain.odds.DefinitionReader;
import dev.hongbao.domain.odds.Rules;
import dev.hongbao.engine.journal.ShardAudit;
import dev.hongbao.engine.redis.MessagePack;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.RowPages;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Holds what Redis has of a shard's open draws to what is settled and what the journal has: the number of plays, the round, what
 * is left of each prize, the users' counters, the releases that nobody took. For the audit; one use, on the link's loop.
 */
public final class DrawRedisAudit {
    private final Pool pool;
    private final RedisLink redis;
    private final Generation generation;
    private final Map<String, Unsettled> unsettled = new HashMap<>();
    private final Set<String> ending = new HashSet<>();
    private final Map<String, Rest> rests = new HashMap<>();
    private final List<String> missing = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();

    private record Win(int number, long round) {}

    /** What the journal has of a draw. */
    private static final class Unsettled {
        private final List<Win> wins = new ArrayList<>();
        private final Map<String, String> counters = new HashMap<>();
        private final Set<String> taken = new HashSet<>();
        private long next;
    }

    /** What of a draw is looked at after its hash. */
    private static final class Rest {
        private long releases;
        private long missing;
        private long lastPeriod;
        private long users;
    }

    public DrawRedisAudit(Pool pool, RedisLink redis, Generation generation) {
        this.pool = pool;
        this.redis = redis;
        this.generation = generation;
    }

    /** Takes plays in the journal that are not settled. @param nextSeq the place of the play after them */
    public void played(DrawId draw, long nextSeq) {
        unsettled(draw).next = nextSeq;
    }

    /** Takes a prize that one of them won. @param number from 1 */
    public void won(DrawId draw, int number, long round) {
        unsettled(draw).wins.add(new Win(number, round));
    }

    /** Takes the release that one of them took. @param number of the prize, from 1 */
    public void taken(DrawId draw, int period, int number, int release) {
        unsettled(draw).taken.add(DrawShardLoader.member(period, number, release));
    }

    /** Takes a user's counters after them. */
    public void counted(DrawId draw, UserId user, String counters) {
        unsettled(draw).counters.put(user.value(), counters);
    }

    /** Takes the end of a draw that is in the journal and not settled. */
    public void ending(DrawId draw) {
        ending.add(draw.toString());
    }

    private String hash(String id) {
        return DrawKeys.hash(generation, new DrawId(UUID.fromString(id)));
    }

    private String schedule(String id) {
        return DrawKeys.schedule(generation, new DrawId(UUID.fromString(id)));
    }

    private Unsettled unsettled(DrawId draw) {
        return unsettled.computeIfAbsent(draw.toString(), id -> new Unsettled());
    }

    /** Compares. */
    public Future<ShardAudit.Differences> differences() {
        Tuple shard = Tuple.of((short) generation.shard());
        return RowPages.each(pool, DrawShardLoader.OPEN, shard, this::hashes)
                .compose(done -> RowPages.each(pool, DrawShardLoader.PLAYERS, shard, this::players))
                .compose(done -> RowPages.each(pool, DrawShardLoader.NOT_TAKEN, shard, this::releases))
                .compose(done -> {
                    Future<Void> compared = Future.succeededFuture();
                    for (Map.Entry<String, Rest> draw : rests.entrySet()) {
                        compared = compared.compose(before -> rest(draw.getKey(), draw.getValue()));
                    }
                    return compared;
                })
                .map(done -> new ShardAudit.Differences(missing, wrong));
    }

    private Future<Void> hashes(RowSet<Row> rows) {
        List<Future<Void>> all = new ArrayList<>();
        for (Row row : rows) {
            String id = row.getUUID("id").toString();
            rests.put(id, new Rest());
            all.add(redis.send(Request.cmd(Command.HMGET)
                            .arg(hash(id))
                            .arg("#")
                            .arg("~")
                            .arg("="))
                    .map(fields -> {
                        hash(row, id, fields);
                        return null;
                    }));
        }
        return Future.all(all).mapEmpty();
    }

    private void hash(Row row, String id, Response fields) {
        Unsettled more = unsettled.getOrDefault(id, new Unsettled());
        if (fields.get(0) == null) {
            missing.add("draw " + id + " is open, and Redis lacks it");
            rests.remove(id);
            return;
        }
        if (fields.get(1) == null || fields.get(2) == null) {
            wrong.add("draw " + id + " is open, and Redis lacks a part of it");
            rests.remove(id);
            return;
        }
        long next = Math.max(row.getLong("next_seq"), more.next);
        if (fields.get(0).toLong() != next) {
            wrong.add("draw " + id + ": Redis counts " + fields.get(0) + " plays; Postgres and the journal " + next);
        }
        Rules rules;
        try {
            rules = DefinitionReader.readStored(row.getJsonObject("definition").getMap())
                    .rules();
        } catch (RuntimeException unreadable) {
            wrong.add("draw " + id + ": its definition cannot be read, and the next recovery sets it aside");
            rests.remove(id);
            return;
        }
        List<Issued> issued = new ArrayList<>(DrawShardLoader.issued(row));
        more.wins.forEach(
                win -> issued.set(win.number - 1, issued.get(win.number - 1).and(win.round)));
        Object expected = MessagePack.read(DrawState.after(rules, issued));
        Object held = MessagePack.read(fields.get(2).toBytes());
        if (!held.equals(expected)) {
            wrong.add("draw " + id + ": round, left in it, left of the stocks are " + held
                    + " in Redis; by Postgres and the journal " + expected);
        }
        Rest rest = Objects.requireNonNull(rests.get(id));
        rest.lastPeriod = fields.get(1).toLong();
        rest.users = more.counters.size();
    }

    private Future<Void> players(RowSet<Row> rows) {
        Map<String, Map<String, String>> byDraw = new HashMap<>();
        for (Row row : rows) {
            byDraw.computeIfAbsent(row.getUUID("draw").toString(), id -> new HashMap<>())
                    .put(row.getString("user_id"), row.getString("counters"));
        }
        List<Future<Void>> all = new ArrayList<>();
        byDraw.keySet().retainAll(rests.keySet());
        byDraw.forEach((id, users) -> {
            Map<String, String> newer = unsettled.getOrDefault(id, new Unsettled()).counters;
            Request ask = Request.cmd(Command.HMGET).arg(hash(id));
            users.keySet().forEach(ask::arg);
            users.forEach((user, counters) -> {
                if (!newer.containsKey(user)) {
                    Objects.requireNonNull(rests.get(id)).users++;
                }
            });
            all.add(redis.send(ask).map(held -> {
                int i = 0;
                for (Map.Entry<String, String> user : users.entrySet()) {
                    compare(id, user.getKey(), held.get(i++), newer.getOrDefault(user.getKey(), user.getValue()));
                }
                return null;
            }));
        });
        return Future.all(all).mapEmpty();
    }

    private void compare(String id, String user, @Nullable Response held, String expected) {
        if (held == null || !held.toString().equals(expected)) {
            wrong.add("draw " + id + " user " + user + ": Redis counts " + held + "; Postgres and the journal "
                    + expected);
        }
    }

    /** Looks a page of them up in the schedules, so that no schedule is read as a whole; {@link #rest} finds what is too many. */
    private Future<Void> releases(RowSet<Row> rows) {
        Map<String, List<String>> byDraw = new HashMap<>();
        for (Row row : rows) {
            String id = row.getUUID("draw").toString();
            String member = DrawShardLoader.member(row);
            Rest rest = rests.get(id);
            // A period that is planned and not loaded yet is on its way.
            if (rest != null
                    && row.getInteger("period") <= rest.lastPeriod
                    && !unsettled.getOrDefault(id, new Unsettled()).taken.contains(member)) {
                byDraw.computeIfAbsent(id, draw -> new ArrayList<>()).add(member);
            }
        }
        List<Future<Void>> all = new ArrayList<>();
        byDraw.forEach((id, members) -> {
            Rest rest = Objects.requireNonNull(rests.get(id));
            rest.releases += members.size();
            Request ask = Request.cmd(Command.ZMSCORE).arg(schedule(id));
            members.forEach(ask::arg);
            all.add(redis.send(ask).map(scores -> {
                scores.forEach(score -> rest.missing += score == null ? 1 : 0);
                return null;
            }));
        });
        return Future.all(all).mapEmpty();
    }

    private Future<Void> rest(String id, Rest rest) {
        Future<Response> fields = redis.send(Request.cmd(Command.HLEN).arg(hash(id)));
        Future<Response> closed =
                redis.send(Request.cmd(Command.HEXISTS).arg(hash(id)).arg("!"));
        Future<Response> schedule = redis.send(Request.cmd(Command.ZCARD).arg(schedule(id)));
        return Future.all(fields, closed, schedule).map(all -> {
            long users = fields.result().toLong() - 4 - closed.result().toLong();
            if (users != rest.users) {
                wrong.add(
                        "draw " + id + ": Redis remembers " + users + " users; Postgres and the journal " + rest.users);
            }
            if (closed.result().toBoolean() && !ending.contains(id)) {
                wrong.add("draw " + id + " is closed in Redis, open in Postgres, and the journal has no end of it");
            }
            long releases = schedule.result().toLong();
            if (releases != rest.releases || rest.missing > 0) {
                wrong.add("draw " + id + ": Redis has " + releases + " releases; Postgres and the journal "
                        + rest.releases + ", and Redis lacks " + rest.missing + " of them");
            }
            return null;
        });
    }
}
