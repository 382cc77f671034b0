package dev.hongbao.draw;

import dev.hongbao.draw.DecidedPlayRequest.Played;
import dev.hongbao.draw.DrawState.Issued;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.DrawRules;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Mode.RedisComparison;
import dev.hongbao.engine.Mode.RedisComparison.Differences;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.store.redis.MessagePack;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
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
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Compares a shard's open draws in Redis with Postgres and the journal: number of plays, round, stocks, users' counters, untaken releases.
 * Reads one draw after the other, in short statements. If a draw differs, it is read again until no play falls into the read. Such a
 * difference is real, however busy the shard is.
 */
final class DrawComparison implements RedisComparison {
    private static final int PAGE = 500;

    /**
     * Reads of a draw that differs. Each takes a few milliseconds, so even a draw with a hundred plays a second pauses during one of them.
     */
    private static final int LOOKS = 20;

    private static final String DRAWS = """
        select d.id from draw as d
        where d.shard = $1 and d.closed_at is null and d.id > $2
          and not exists (select from quarantine_unit as q where q.id = d.id)
        order by d.id limit $3
        """;

    private static final String DRAW = """
        select d.definition, coalesce((select max(seq) + 1 from play where draw = d.id), 0) as next_seq,
               z.issued, z.round, z.round_issued
        from draw as d
        cross join lateral (select array_agg(issued order by n) as issued, array_agg(round order by n) as round,
                                   array_agg(round_issued order by n) as round_issued
                            from prize where draw = d.id) as z
        where d.id = $1 and d.closed_at is null
          and not exists (select from quarantine_unit as q where q.id = d.id)
        """;

    private static final String PLAYERS = """
        select user_id, array_to_string(counters, ',') as counters
        from player where draw = $1 and user_id > $2 order by user_id limit $3
        """;

    /** Without periods that are planned but not loaded yet. */
    private static final String NOT_TAKEN = """
        select r.period, r.prize, r.n
        from release as r
        where r.draw = $1 and (r.period, r.prize, r.n) > ($2, $3, $4) and r.period <= $5 and not r.withdrawn
          and not exists (select from play as y
                          where y.draw = r.draw and y.period = r.period and y.prize = r.prize and y.release = r.n)
        order by r.period, r.prize, r.n limit $6
        """;

    private final Pool pool;
    private final RedisLink redis;
    private final Generation generation;
    private final List<String> missing = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();

    public DrawComparison(Pool pool, RedisLink redis, Generation generation) {
        this.pool = pool;
        this.redis = redis;
        this.generation = generation;
    }

    /** The unsettled entries of draws in the journal, at one read. */
    private static final class Journal {
        private final Map<UUID, List<DecidedPlayRequest>> played = new HashMap<>();
        private final Set<UUID> ending = new HashSet<>();

        Journal(List<JournalItem> items) {
            for (JournalItem item : items) {
                if (item instanceof DecidedPlayRequest request && request.played() != null) {
                    played.computeIfAbsent(request.draw().value(), id -> new ArrayList<>())
                            .add(request);
                } else if (item instanceof DrawEnd end && end.period() == null) {
                    ending.add(end.draw().value());
                }
            }
        }
    }

    @Override
    public Future<Differences> differences(List<JournalItem> before, Supplier<Future<List<JournalItem>>> later) {
        Journal journal = new Journal(before);
        Supplier<Future<Journal>> now = () -> later.get().map(Journal::new);
        return Pages.each(
                        new UUID(0, 0),
                        after -> rows(DRAWS, Tuple.of((short) generation.shard(), after, PAGE)),
                        page -> page.size() < PAGE
                                ? null
                                : page.get(page.size() - 1).getUUID("id"),
                        page -> {
                            Future<Void> done = Future.succeededFuture();
                            for (Row row : page) {
                                done = done.compose(earlier -> compare(row.getUUID("id"), journal, now));
                            }
                            return done;
                        })
                .map(done -> new Differences(missing, wrong));
    }

    private Future<List<Row>> rows(String sql, Tuple parameters) {
        return pool.preparedQuery(sql)
                .execute(parameters)
                .map(rows -> rows.stream().toList());
    }

    /** For the first read the journal is older than Postgres; for later ones it is current. */
    private Future<Void> compare(UUID id, Journal journal, Supplier<Future<Journal>> now) {
        Look look = new Look(id, journal);
        return look.run().compose(compared -> {
            if (look.found.isEmpty() || look.isMissing) {
                missing.addAll(look.found);
                return Future.succeededFuture();
            }
            return again(id, now, LOOKS);
        });
    }

    private Future<Void> again(UUID id, Supplier<Future<Journal>> now, int looks) {
        return standing(id)
                .compose(begin -> now.get().compose(journal -> {
                    Look look = new Look(id, journal);
                    return look.run().compose(compared -> standing(id)).compose(end -> {
                        if (look.found.isEmpty() || look.isMissing) {
                            missing.addAll(look.found);
                        } else if (begin.equals(end)) {
                            wrong.addAll(look.found);
                        } else if (looks > 1) {
                            return again(id, now, looks - 1);
                        } else {
                            look.found.forEach(line -> missing.add(line + " (as it was played)"));
                        }
                        return Future.succeededFuture();
                    });
                }));
    }

    private String hash(UUID id) {
        return DrawKeys.hash(generation, new DrawId(id));
    }

    /** Fields that change with each play, each period and the end. */
    private Future<String> standing(UUID id) {
        return redis.send(Request.cmd(Command.HMGET)
                        .arg(hash(id))
                        .arg("#")
                        .arg("~")
                        .arg("!"))
                .map(Response::toString);
    }

    /** One read of one draw. */
    private final class Look {
        private final UUID id;
        private final Journal journal;
        private final List<String> found = new ArrayList<>();
        private boolean isMissing;
        private final Map<String, String> counters = new HashMap<>();
        private final Set<String> taken = new HashSet<>();
        private long users;
        private long releases;
        private long lacking;

        private Look(UUID id, Journal journal) {
            this.id = id;
            this.journal = journal;
        }

        Future<Void> run() {
            return rows(DRAW, Tuple.of(id))
                    .compose(rows -> rows.isEmpty() ? Future.succeededFuture() : draw(rows.get(0)));
        }

        private Future<Void> draw(Row row) {
            return redis.send(Request.cmd(Command.HMGET)
                            .arg(hash(id))
                            .arg("#")
                            .arg("~")
                            .arg("="))
                    .compose(fields -> {
                        if (fields.get(0) == null) {
                            isMissing = true;
                            found.add("draw " + id + " is open, and Redis lacks it");
                            return Future.succeededFuture();
                        }
                        if (fields.get(1) == null || fields.get(2) == null) {
                            found.add("draw " + id + " is open, and Redis lacks a part of it");
                            return Future.succeededFuture();
                        }
                        if (!state(row, fields)) {
                            return Future.succeededFuture();
                        }
                        return players()
                                .compose(done -> releases(fields.get(1).toInteger()))
                                .compose(done -> sizes());
                    });
        }

        /** True if the rest can be compared. */
        private boolean state(Row row, Response fields) {
            long settled = row.getLong("next_seq");
            long next = settled;
            List<Issued> issued = new ArrayList<>(DrawShardLoader.issued(row));
            for (DecidedPlayRequest request : journal.played.getOrDefault(id, List.of())) {
                Played played = Objects.requireNonNull(request.played());
                if (played.firstSeq() < settled) {
                    continue; // Postgres had it already
                }
                next = Math.max(next, played.firstSeq() + played.prizes().size());
                if (!played.counters().isEmpty()) {
                    counters.put(request.user().value(), played.counters());
                }
                for (var won : played.prizes()) {
                    issued.set(won.number() - 1, issued.get(won.number() - 1).and(won.round()));
                    if (won.period() != null && won.release() != null) {
                        taken.add(DrawShardLoader.member(won.period(), won.number(), won.release()));
                    }
                }
            }
            users = counters.size();
            if (fields.get(0).toLong() != next) {
                found.add(
                        "draw " + id + ": Redis counts " + fields.get(0) + " plays; Postgres and the journal " + next);
            }
            DrawRules rules;
            try {
                rules = DrawDefinition.readStored(
                                row.getJsonObject("definition").getMap())
                        .rules();
            } catch (RuntimeException unreadable) {
                found.add("draw " + id + ": its definition cannot be read, and the next recovery sets it aside");
                return false;
            }
            Object expected = MessagePack.read(DrawState.after(rules, issued));
            Object held = MessagePack.read(fields.get(2).toBytes());
            if (!held.equals(expected)) {
                found.add("draw " + id + ": round, left in it, left of the stocks are " + held
                        + " in Redis; by Postgres and the journal " + expected);
            }
            return true;
        }

        private Future<Void> players() {
            return Pages.each(
                    "",
                    after -> rows(PLAYERS, Tuple.of(id, after, PAGE)),
                    page -> page.size() < PAGE
                            ? null
                            : page.get(page.size() - 1).getString("user_id"),
                    page -> {
                        Request ask = Request.cmd(Command.HMGET).arg(hash(id));
                        page.forEach(row -> ask.arg(UserId.toRedis(row.getString("user_id"))));
                        return redis.send(ask).map(held -> {
                            for (int i = 0; i < page.size(); i++) {
                                player(page.get(i), held.get(i));
                            }
                            return null;
                        });
                    });
        }

        private void player(Row row, @Nullable Response held) {
            String user = row.getString("user_id");
            String newer = counters.get(user);
            users += newer == null ? 1 : 0;
            String expected = newer == null ? row.getString("counters") : newer;
            if (held == null || !held.toString().equals(expected)) {
                found.add("draw " + id + " user " + user + ": Redis counts " + held + "; Postgres and the journal "
                        + expected);
            }
        }

        /** Looks up each untaken release in the schedule, page by page. The schedule's size then reveals extra ones. */
        private Future<Void> releases(int lastPeriod) {
            return Pages.each(
                    Tuple.of(-1, 0, 0),
                    after -> rows(
                            NOT_TAKEN,
                            Tuple.of(
                                    id,
                                    after.getInteger(0),
                                    after.getInteger(1).shortValue(),
                                    after.getInteger(2),
                                    lastPeriod,
                                    PAGE)),
                    page -> {
                        Row last = page.isEmpty() ? null : page.get(page.size() - 1);
                        return page.size() < PAGE || last == null
                                ? null
                                : Tuple.of(last.getInteger("period"), last.getInteger("prize"), last.getInteger("n"));
                    },
                    page -> {
                        List<String> members = page.stream()
                                .map(DrawShardLoader::member)
                                .filter(member -> !taken.contains(member))
                                .toList();
                        if (members.isEmpty()) {
                            return Future.succeededFuture();
                        }
                        releases += members.size();
                        Request ask = Request.cmd(Command.ZMSCORE).arg(DrawKeys.schedule(generation, new DrawId(id)));
                        members.forEach(ask::arg);
                        return redis.send(ask).map(scores -> {
                            scores.forEach(score -> lacking += score == null ? 1 : 0);
                            return null;
                        });
                    });
        }

        private Future<Void> sizes() {
            Future<Response> fields = redis.send(Request.cmd(Command.HLEN).arg(hash(id)));
            Future<Response> closed =
                    redis.send(Request.cmd(Command.HEXISTS).arg(hash(id)).arg("!"));
            Future<Response> schedule = redis.send(Request.cmd(Command.ZCOUNT)
                    .arg(DrawKeys.schedule(generation, new DrawId(id)))
                    .arg("(-inf") // without DrawKeys.MARK
                    .arg("+inf"));
            return Future.all(fields, closed, schedule).map(all -> {
                long held = fields.result().toLong() - 4 - closed.result().toLong();
                if (held != users) {
                    found.add("draw " + id + ": Redis remembers " + held + " users; Postgres and the journal " + users);
                }
                if (closed.result().toBoolean() && !journal.ending.contains(id)) {
                    found.add("draw " + id + " is closed in Redis, open in Postgres, and the journal has no end of it");
                }
                long due = schedule.result().toLong();
                if (due != releases || lacking > 0) {
                    found.add("draw " + id + ": Redis has " + due + " releases; Postgres and the journal " + releases
                            + ", and Redis lacks " + lacking + " of them");
                }
                return null;
            });
        }
    }
}
