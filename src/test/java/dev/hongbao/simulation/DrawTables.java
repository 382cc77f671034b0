package dev.hongbao.simulation;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.DrawDefinition.Mode;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.simulation.SimulatedPostgres.LockMode;
import dev.hongbao.simulation.SimulatedPostgres.Plan;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rows of draws, plays, held costs and schedules, and the statements over them: a part of {@link PostgresTables}. Not modelled: codes,
 * changed quotas, restrictions, the accounts of draws and owners.
 */
final class DrawTables {
    final Map<UUID, DrawRow> draws = new LinkedHashMap<>();

    /** Those whose owner's wallet somebody holds: their ends settle, and close nothing. */
    final Set<UUID> held = new HashSet<>();

    /** Requests whose cost is held or was returned, by id. */
    final Map<UUID, RequestRow> requests = new LinkedHashMap<>();

    private final PostgresTables tables;
    private final Map<String, Long> wallets = new HashMap<>();
    private final Map<String, Long> lowest = new HashMap<>();

    /** The users' money from the host, by user. */
    final Map<String, Long> purses = new HashMap<>();

    /** Gets each fresh attempt of a hold: a history draws its own, so that it follows from its seed. */
    UnaryOperator<UUID> attempts = UnaryOperator.identity();

    static final class DrawRow {
        final UUID id;
        final int shard;
        final DrawDefinition definition;
        final Seed seed;
        final List<PrizeRow> prizes = new ArrayList<>();

        /** By their number. */
        final List<PlayRow> plays = new ArrayList<>();

        final Map<String, Long[]> players = new TreeMap<>();
        final TreeMap<Integer, PeriodRow> periods = new TreeMap<>();
        final List<ReleaseRow> releases = new ArrayList<>();
        OffsetDateTime closes;

        @Nullable
        OffsetDateTime closedAt;

        /** Whether its group's feed has its opening. */
        private boolean opened;

        /** The last play of which the feed tells. */
        private long told = -1;

        /** When the feed told of a win. */
        private Instant toldAt = Instant.MIN;

        private final OffsetDateTime created;
        private final JsonObject stored;

        DrawRow(UUID id, int shard, DrawDefinition definition, Seed seed, Instant created, Instant closes) {
            this.id = id;
            this.shard = shard;
            this.definition = definition;
            this.seed = seed;
            this.created = created.atOffset(ZoneOffset.UTC);
            this.closes = closes.atOffset(ZoneOffset.UTC);
            this.stored = new JsonObject(new JsonObject(definition.stored()).encode());
            definition.allPrizes().forEach(prize -> prizes.add(new PrizeRow(prize)));
        }

        private Runnable save() {
            List<PlayRow> played = List.copyOf(plays);
            Map<String, Long[]> counters = new TreeMap<>(players);
            Map<Integer, PeriodRow> planned = new TreeMap<>(periods);
            Set<PeriodRow> ended = new HashSet<>(periods.values());
            ended.removeIf(period -> !period.isEnded);
            List<ReleaseRow> released = List.copyOf(releases);
            Set<ReleaseRow> left = new HashSet<>(releases);
            left.removeIf(release -> !release.withdrawn);
            OffsetDateTime end = closes;
            OffsetDateTime over = closedAt;
            boolean isOpened = opened;
            long upto = told;
            Instant since = toldAt;
            return () -> {
                plays.clear();
                plays.addAll(played);
                back(players, counters).run();
                back(periods, planned).run();
                planned.values().forEach(period -> period.isEnded = ended.contains(period));
                releases.clear();
                releases.addAll(released);
                released.forEach(release -> release.withdrawn = left.contains(release));
                closes = end;
                closedAt = over;
                opened = isOpened;
                told = upto;
                toldAt = since;
            };
        }

        /** Of one play; 0 for a free draw. */
        long cost() {
            DrawDefinition.Cost cost = definition.cost();
            return cost == null ? 0 : cost.amount();
        }

        /** Whether its group's feed follows it: until its end. */
        private boolean isFed() {
            return definition.group() != null && closedAt == null;
        }

        private long lastPlay() {
            return plays.size() - 1L;
        }

        /** Null if the feed has all of it, while it is open; else what is missing. */
        @Nullable
        String untold() {
            return !isFed() || opened && told == lastPlay()
                    ? null
                    : "the feed tells " + (opened ? told + 1 : "nothing") + " of draw " + id + " with " + plays.size()
                            + " plays";
        }

        private boolean isPast(Instant moment) {
            return !closes.toInstant().isAfter(moment);
        }

        long playsOf(String user, Instant from) {
            return plays.stream()
                    .filter(play ->
                            play.user.equals(user) && !play.at.toInstant().isBefore(from))
                    .count();
        }

        private boolean isTaken(int period, int prize, int release) {
            return plays.stream()
                    .anyMatch(play -> play.period != null
                            && play.period == period
                            && play.prize == prize
                            && play.release != null
                            && play.release == release);
        }

        /** Releases that no play took, in the order of their periods. */
        private Stream<ReleaseRow> untaken() {
            return releases.stream()
                    .filter(each -> !each.withdrawn && !isTaken(each.period, each.prize, each.n))
                    .sorted(Comparator.comparingInt((ReleaseRow each) -> each.period)
                            .thenComparingInt(each -> each.prize)
                            .thenComparingInt(each -> each.n));
        }
    }

    static final class PrizeRow {
        final @Nullable Long stock;
        long issued;
        private final long amount;
        private long round = 1;
        private long inRound;
        private long planned;

        PrizeRow(Prize prize) {
            this.stock = prize.stock();
            this.amount = prize.award().amount();
        }

        private Runnable save() {
            long[] counts = {issued, round, inRound, planned};
            return () -> {
                issued = counts[0];
                round = counts[1];
                inRound = counts[2];
                planned = counts[3];
            };
        }

        /** As the trigger counts a play. */
        private void issue(long inThisRound) {
            issued++;
            if (inThisRound > round) {
                round = inThisRound;
                inRound = 1;
            } else if (inThisRound == round) {
                inRound++;
            }
        }
    }

    record PlayRow(
            long seq,
            UUID request,
            long nth,
            long round,
            OffsetDateTime at,
            int prize,
            int part,
            @Nullable Integer period,
            @Nullable Integer release,
            @Nullable Integer loaded,
            String user) {}

    static final class RequestRow {
        final UUID id;
        final UUID draw;
        final String user;
        int plays;
        long cost;
        UUID attempt;
        boolean isHeld;

        @Nullable
        String reason;

        private OffsetDateTime heldAt;

        private RequestRow(UUID id, UUID draw, String user, UUID attempt, OffsetDateTime heldAt) {
            this.id = id;
            this.draw = draw;
            this.user = user;
            this.attempt = attempt;
            this.heldAt = heldAt;
        }

        private Runnable save() {
            int many = plays;
            long held = cost;
            UUID by = attempt;
            boolean holds = isHeld;
            String why = reason;
            OffsetDateTime since = heldAt;
            return () -> {
                plays = many;
                cost = held;
                attempt = by;
                isHeld = holds;
                reason = why;
                heldAt = since;
            };
        }

        @Override
        public String toString() {
            return "request " + id + " of " + user + ", attempt " + attempt + (isHeld ? " held" : " " + reason);
        }
    }

    static final class PeriodRow {
        private final OffsetDateTime ends;
        private boolean isEnded;

        private PeriodRow(OffsetDateTime ends) {
            this.ends = ends;
        }
    }

    static final class ReleaseRow {
        final int period;
        final int prize;
        final int n;
        private final OffsetDateTime moment;
        boolean withdrawn;

        private ReleaseRow(int period, int prize, int n, OffsetDateTime moment) {
            this.period = period;
            this.prize = prize;
            this.n = n;
            this.moment = moment;
        }
    }

    DrawTables(PostgresTables tables) {
        this.tables = tables;
    }

    Instant now() {
        return tables.now();
    }

    /** As {@link PostgresTables#save}. */
    Runnable save() {
        List<Runnable> undo = new ArrayList<>();
        draws.values().forEach(draw -> {
            undo.add(draw.save());
            draw.prizes.forEach(prize -> undo.add(prize.save()));
        });
        Map<UUID, RequestRow> before = new LinkedHashMap<>(requests);
        before.values().forEach(request -> undo.add(request.save()));
        undo.add(back(requests, before));
        undo.add(back(wallets, Map.copyOf(wallets)));
        undo.add(back(lowest, Map.copyOf(lowest)));
        undo.add(back(purses, Map.copyOf(purses)));
        return () -> undo.forEach(Runnable::run);
    }

    private static <K, V> Runnable back(Map<K, V> map, Map<K, V> before) {
        return () -> {
            map.clear();
            map.putAll(before);
        };
    }

    DrawRow add(UUID id, int shard, DrawDefinition definition, Seed seed) {
        DrawRow draw = new DrawRow(id, shard, definition, seed, tables.now(), definition.closesAt());
        draws.put(id, draw);
        return draw;
    }

    void deposit(String user, long amount) {
        wallets.merge(user, amount, Long::sum);
        lowest.merge(user, balance(user), Math::min);
    }

    long balance(String user) {
        return wallets.getOrDefault(user, 0L);
    }

    /** The host gives a user what to play with, once. */
    void fill(String user, long amount) {
        if (purses.putIfAbsent(user, amount) == null) {
            deposit(user, amount);
        }
    }

    /** The least that a user ever had, since the first deposit. */
    long lowest(String user) {
        return lowest.getOrDefault(user, 0L);
    }

    private List<Map<String, Object>> playedBefore(Tuple of) {
        UUID[] ids = of.getArrayOfUUIDs(0);
        List<Map<String, Object>> rows = new ArrayList<>();
        for (int i = 0; i < ids.length; i++) {
            UUID id = ids[i];
            int plays = (int) Stream.ofNullable(draws.get(of.getArrayOfUUIDs(1)[i]))
                    .flatMap(draw -> draw.plays.stream())
                    .filter(play -> play.request.equals(id))
                    .count();
            if (plays > 0) {
                rows.add(row("n", i + 1L, "plays", plays));
            }
        }
        return rows;
    }

    List<PlayRow> playsOf(UUID request) {
        return draws.values().stream()
                .flatMap(draw -> draw.plays.stream())
                .filter(play -> play.request.equals(request))
                .toList();
    }

    private static Map<String, Object> row(@Nullable Object... pairs) {
        return PostgresTables.row(pairs);
    }

    private static List<Map<String, Object>> one(@Nullable Object... pairs) {
        return List.of(row(pairs));
    }

    private OffsetDateTime moment() {
        return tables.now().atOffset(ZoneOffset.UTC);
    }

    /** As {@code latest_moment()}. */
    private Instant latest() {
        return tables.now().plusSeconds(60);
    }

    /** The plan of a statement over draws; null for another one. */
    @Nullable
    Plan plan(String text, Tuple of) {
        if (text.startsWith("select settled_at, void, codes from settle_plays(")) {
            return tables.settling(of, List.of(), moved -> settlePlays(of));
        } else if (text.startsWith("select settled_at, closed, wrong, early from settle_draw_ends(")) {
            List<Object> ended = Stream.of(of.getArrayOfUUIDs(5))
                    .distinct()
                    .sorted()
                    .<Object>flatMap(id -> Stream.of("holds " + id, id))
                    .toList();
            return tables.settling(of, ended, moved -> settleEnds(of));
        } else if (text.startsWith("select status, attempt from hold_plays(")) {
            List<String> locked = Stream.of(of.getArrayOfUUIDs(1))
                    .distinct()
                    .sorted()
                    .map(id -> "holds " + id)
                    .toList();
            return new Plan(locked, LockMode.SHARE, Plan.Kind.WRITE, taken -> hold(of));
        } else if (text.startsWith("select plan_period(")) {
            return new Plan(
                    List.of(of.getUUID(0)), LockMode.SHARE, Plan.Kind.WRITE, taken -> one("plan_period", planned(of)));
        } else if (text.startsWith("select feed_draws(")) {
            return new Plan(List.of(), LockMode.KEY_SHARE, Plan.Kind.WRITE, taken -> one("waiting", fed(of)));
        } else if (text.startsWith("update draw set closes_at = now()")) {
            return new Plan(List.of(of.getUUID(0)), LockMode.NO_KEY_UPDATE, Plan.Kind.WRITE, taken -> endNow(of));
        }
        return read(text, of);
    }

    private @Nullable Plan read(String text, Tuple of) {
        if (text.startsWith("select d.id, d.shard, d.owner, d.definition")) {
            return Plan.read(() -> find(of.getArrayOfUUIDs(0)));
        } else if (text.equals("select closes_at, closed_at from draw where id = $1")) {
            return Plan.read(() -> Stream.ofNullable(draws.get(of.getUUID(0)))
                    .map(draw -> row("closes_at", draw.closes, "closed_at", draw.closedAt))
                    .toList());
        } else if (text.startsWith("select id, user_id, attempt, reason from play_request")) {
            return Plan.read(() -> requests(of.getArrayOfUUIDs(0))
                    .map(each ->
                            row("id", each.id, "user_id", each.user, "attempt", each.attempt, "reason", each.reason))
                    .toList());
        } else if (text.startsWith("select from play_request where id = $1 and status = 'held'")) {
            return Plan.read(() -> requests(of.getUUID(0)).anyMatch(each -> each.isHeld) ? one() : List.of());
        } else if (text.startsWith("select y.draw, y.seq, y.user_id, y.prize, y.at, y.request, c.code")) {
            return Plan.read(() -> plays(List.of(of.getArrayOfUUIDs(0))));
        } else if (text.startsWith("select g.n, p.plays")) {
            return Plan.read(() -> playedBefore(of));
        } else if (text.startsWith("select t.id, t.draw, t.attempt, t.user_id, d.shard")) {
            return Plan.read(() -> heldTooLong(of));
        } else if (text.startsWith("select id, epoch, nonce, last_seq from shard where id = any ($1)")) {
            return Plan.read(() -> Stream.of(of.getArrayOfShorts(0))
                    .map(id -> tables.shards.get(id))
                    .map(each -> row("id", each.id, "epoch", each.epoch, "nonce", each.nonce, "last_seq", each.lastSeq))
                    .toList());
        } else if (text.startsWith("select d.id, d.shard, d.definition, d.closes_at")) {
            return Plan.read(() -> open(of.getInteger(0)).map(this::state).toList());
        } else if (text.startsWith("select p.draw, p.user_id, array_to_string(p.counters")) {
            return Plan.read(() -> open(of.getInteger(0))
                    .flatMap(draw -> draw.players.entrySet().stream()
                            .map(each -> row(
                                    "draw", draw.id, "user_id", each.getKey(), "counters", joined(each.getValue()))))
                    .toList());
        } else if (text.startsWith("select r.draw, r.period, r.prize, r.n, r.moment")) {
            return Plan.read(() -> open(of.getInteger(0))
                    .flatMap(draw -> draw.untaken().map(each -> {
                        Map<String, Object> row = row("draw", draw.id);
                        row.putAll(release(each));
                        return row;
                    }))
                    .toList());
        } else if (text.startsWith("select id from draw where id = any ($1) and closed_at is not null")) {
            return Plan.read(() -> Stream.of(of.getArrayOfUUIDs(0))
                    .filter(id -> draws.containsKey(id) && draws.get(id).closedAt != null)
                    .map(id -> row("id", id))
                    .toList());
        }
        return schedules(text, of);
    }

    private @Nullable Plan schedules(String text, Tuple of) {
        if (text.startsWith("select d.id, d.shard from draw as d where d.closed_at is null and d.mode = 'schedule'")) {
            return Plan.read(() -> scheduled(of)
                    .map(draw -> row("id", draw.id, "shard", draw.shard))
                    .toList());
        } else if (text.startsWith("select e.id, s.shard, e.n, e.releases from")) {
            return Plan.read(() -> ofEach(
                    text.contains("period as p")
                            ? periodsOver(of)
                            : due(of).map(draw -> row("id", draw.id, "shard", draw.shard, "n", null, "releases", 0L)),
                    of.getInteger(1)));
        } else if (text.startsWith("select coalesce(max(n), -1) from period where draw = $1")) {
            DrawRow draw = draws.get(of.getUUID(0));
            return Plan.read(() -> one("coalesce", draw == null ? -1 : lastPeriod(draw)));
        } else if (text.startsWith("select pg_advisory_xact_lock(hashtextextended('quotas '")) {
            return Plan.read(() -> one("pg_advisory_xact_lock", ""));
        } else if (text.startsWith("select prize, quota from quota where draw = $1")) {
            return Plan.read(List::of);
        } else if (text.startsWith("select n from period where draw = $1 and n >= $2")) {
            return Plan.read(() -> Stream.ofNullable(draws.get(of.getUUID(0)))
                    .flatMap(draw -> draw.periods.tailMap(of.getInteger(1)).keySet().stream())
                    .limit(of.getInteger(2))
                    .map(n -> row("n", n))
                    .toList());
        } else if (text.startsWith("select period, prize, n, moment from release")) {
            return Plan.read(() -> Stream.ofNullable(draws.get(of.getUUID(0)))
                    .flatMap(draw -> draw.releases.stream())
                    .filter(each -> each.period == of.getInteger(1) && !each.withdrawn)
                    .sorted(Comparator.comparing(each -> each.moment))
                    .map(DrawTables::release)
                    .toList());
        } else if (text.startsWith("select f.draw from draw_feed as f")) {
            return Plan.read(() -> (text.contains("not f.opened") ? unopened(of) : untold(of))
                    .limit(of.getInteger(1))
                    .map(draw -> row("draw", draw.id))
                    .toList());
        } else if (text.equals("select draws_open()")) { // for the outbox
            return Plan.read(() -> one("draws_open", null));
        } else if (text.equals("select now()")) {
            return Plan.read(() -> one("now", moment()));
        }
        return compared(text, of);
    }

    /** The statements of the comparison with Redis, each in one page. */
    private @Nullable Plan compared(String text, Tuple of) {
        if (text.startsWith("select d.id from draw as d")) {
            return Plan.read(
                    () -> open(of.getInteger(0)).map(draw -> row("id", draw.id)).toList());
        } else if (text.startsWith("select d.definition, coalesce(")) {
            DrawRow draw = draws.get(of.getUUID(0));
            return Plan.read(() -> draw != null && isOpen(draw) ? List.of(state(draw)) : List.of());
        } else if (text.startsWith("select user_id, array_to_string(counters")) {
            return Plan.read(() -> Stream.ofNullable(draws.get(of.getUUID(0)))
                    .flatMap(draw -> draw.players.entrySet().stream())
                    .map(each -> row("user_id", each.getKey(), "counters", joined(each.getValue())))
                    .toList());
        } else if (text.startsWith("select r.period, r.prize, r.n")) {
            return Plan.read(() -> Stream.ofNullable(draws.get(of.getUUID(0)))
                    .flatMap(DrawRow::untaken)
                    .filter(each -> each.period <= of.getInteger(4))
                    .map(DrawTables::release)
                    .toList());
        }
        return null;
    }

    /** The columns of the owner's question for work, of all tasks of draws. */
    Map<String, Object> work(Tuple of) {
        return row(
                "scheduled",
                scheduled(of).findAny().isEmpty() ? null : true,
                "draws_due",
                due(of).findAny().isEmpty() ? null : true,
                "periods_over",
                periodsOver(of).findAny().isEmpty() ? null : true);
    }

    /** The columns of the owner's question for work, of the feeds. */
    Map<String, Object> feedWork(Tuple of) {
        return row("openings", unopened(of).findAny().isEmpty() ? null : true);
    }

    private Stream<DrawRow> unopened(Tuple of) {
        return fed(of.getArrayOfShorts(0)).filter(draw -> !draw.opened);
    }

    private Stream<DrawRow> untold(Tuple of) {
        return fed(of.getArrayOfShorts(0)).filter(draw -> draw.lastPlay() > draw.told);
    }

    private Stream<DrawRow> fed(Short... shards) {
        return draws.values().stream()
                .filter(draw -> draw.isFed() && List.of(shards).contains((short) draw.shard));
    }

    /** As {@code feed_draws}, for draws that are open. All have one group. */
    private UUID[] fed(Tuple of) {
        Instant lately = tables.now().minusMillis(of.getLong(1));
        List<DrawRow> asked = Stream.of(of.getArrayOfUUIDs(0))
                .map(draws::get)
                .filter(draw -> draw != null && draw.isFed())
                .sorted(Comparator.comparing((DrawRow draw) -> draw.toldAt).thenComparing(draw -> draw.id.toString()))
                .toList();
        boolean isTaken = draws.values().stream().anyMatch(draw -> draw.isFed() && draw.toldAt.isAfter(lately));
        List<UUID> waiting = new ArrayList<>();
        for (DrawRow draw : asked) {
            boolean hasWon = draw.plays.stream()
                    .anyMatch(play -> play.seq > draw.told && draw.definition.isAnnounced(play.prize));
            boolean hasEvent = hasWon || !draw.opened;
            if (hasEvent && isTaken) {
                waiting.add(draw.id);
                continue;
            }
            isTaken |= hasEvent;
            draw.opened = true;
            draw.told = draw.lastPlay();
            draw.toldAt = hasWon ? tables.now() : draw.toldAt;
        }
        return waiting.toArray(UUID[]::new);
    }

    private Stream<DrawRow> open(int shard) {
        return draws.values().stream().filter(draw -> draw.shard == shard && isOpen(draw));
    }

    private boolean isOpen(DrawRow draw) {
        return draw.closedAt == null && !tables.aside.containsKey(draw.id);
    }

    private Stream<DrawRow> openOfShards(Tuple of) {
        List<Short> shards = List.of(of.getArrayOfShorts(0));
        return draws.values().stream().filter(draw -> isOpen(draw) && shards.contains((short) draw.shard));
    }

    private Stream<DrawRow> due(Tuple of) {
        return openOfShards(of).filter(draw -> draw.isPast(tables.now()));
    }

    private Stream<DrawRow> scheduled(Tuple of) {
        return openOfShards(of).filter(draw -> draw.definition.mode() == Mode.SCHEDULE);
    }

    private Stream<Map<String, Object>> periodsOver(Tuple of) {
        Instant before = tables.now().minusSeconds(10);
        return scheduled(of)
                .filter(draw -> !draw.definition.schedule().carryOver())
                .flatMap(draw -> draw.periods.entrySet().stream()
                        .filter(each -> !each.getValue().isEnded
                                && !each.getValue().ends.toInstant().isAfter(before))
                        .map(each -> row(
                                "id",
                                draw.id,
                                "shard",
                                draw.shard,
                                "n",
                                each.getKey(),
                                "releases",
                                draw.releases.stream()
                                        .filter(release -> release.period == each.getKey())
                                        .count())));
    }

    /** The first so many rows of each shard. */
    private static List<Map<String, Object>> ofEach(Stream<Map<String, Object>> rows, int limit) {
        Map<Object, Integer> counts = new HashMap<>();
        return rows.filter(row -> counts.merge(row.get("shard"), 1, Integer::sum) <= limit)
                .toList();
    }

    private static int lastPeriod(DrawRow draw) {
        return draw.periods.isEmpty() ? -1 : draw.periods.lastKey();
    }

    private List<Map<String, Object>> find(UUID[] ids) {
        return Stream.of(ids)
                .filter(draws::containsKey)
                .map(draws::get)
                .map(DrawTables::terms)
                .toList();
    }

    private static Map<String, Object> terms(DrawRow draw) {
        Map<String, Object> row = row("id", draw.id, "shard", draw.shard, "owner", "host", "definition", draw.stored);
        row.putAll(row("created_at", draw.created, "closes_at", draw.closes));
        row.putAll(row(
                "seed",
                Buffer.buffer(draw.seed.toBytes()),
                "commitment",
                draw.seed.commitment(draw.id, draw.definition)));
        return row;
    }

    private Stream<RequestRow> requests(UUID... ids) {
        return Stream.of(ids).filter(requests::containsKey).map(requests::get);
    }

    private List<Map<String, Object>> plays(List<UUID> ids) {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (DrawRow draw : draws.values()) {
            for (PlayRow play : draw.plays) {
                if (ids.contains(play.request)) {
                    Map<String, Object> row = row("draw", draw.id, "seq", play.seq, "user_id", play.user);
                    row.putAll(row("prize", play.prize, "at", play.at, "request", play.request, "code", null));
                    rows.add(row);
                }
            }
        }
        return rows;
    }

    private List<Map<String, Object>> heldTooLong(Tuple of) {
        List<Short> shards = List.of(of.getArrayOfShorts(0));
        Instant before = tables.now().minusMillis(of.getLong(1));
        return requests.values().stream()
                .filter(each -> each.isHeld
                        && !tables.aside.containsKey(each.draw)
                        && each.heldAt.toInstant().isBefore(before)
                        && shards.contains((short) draws.get(each.draw).shard))
                .sorted(Comparator.comparing(each -> each.heldAt))
                .limit(of.getInteger(2))
                .map(each -> {
                    Map<String, Object> row = row("id", each.id, "draw", each.draw, "attempt", each.attempt);
                    row.putAll(row("user_id", each.user, "shard", draws.get(each.draw).shard));
                    return row;
                })
                .toList();
    }

    private Map<String, Object> state(DrawRow draw) {
        Map<String, Object> row = row("id", draw.id, "shard", draw.shard, "definition", draw.stored);
        row.putAll(row("closes_at", draw.closes, "next_seq", (long) draw.plays.size()));
        row.put("last_period", lastPeriod(draw));
        row.put("issued", draw.prizes.stream().map(each -> each.issued).toArray(Long[]::new));
        row.put("round", draw.prizes.stream().map(each -> each.round).toArray(Long[]::new));
        row.put("round_issued", draw.prizes.stream().map(each -> each.inRound).toArray(Long[]::new));
        return row;
    }

    private static String joined(Long[] counters) {
        return String.join(",", Arrays.stream(counters).map(String::valueOf).toList());
    }

    private static Map<String, Object> release(ReleaseRow each) {
        return row("period", each.period, "prize", each.prize, "n", each.n, "moment", each.moment);
    }

    private List<Map<String, Object>> endNow(Tuple of) {
        DrawRow draw = draws.get(of.getUUID(0));
        if (draw != null && draw.closedAt == null && !draw.isPast(tables.now())) {
            draw.closes = moment();
        }
        return List.of();
    }

    private List<Map<String, Object>> hold(Tuple of) {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (int i = 0; i < of.getArrayOfUUIDs(0).length; i++) {
            UUID id = of.getArrayOfUUIDs(0)[i];
            DrawRow draw = draws.get(of.getArrayOfUUIDs(1)[i]);
            String user = of.getArrayOfStrings(2)[i];
            int plays = of.getArrayOfShorts(3)[i];
            UUID fresh = attempts.apply(of.getArrayOfUUIDs(4)[i]);
            RequestRow known = requests.get(id);
            String answer = holdAnswer(of, i, draw, known);
            if (draw != null && answer.isEmpty()) {
                RequestRow held = known == null ? new RequestRow(id, draw.id, user, fresh, moment()) : known;
                held.plays = plays;
                held.cost = draw.cost() * plays;
                held.attempt = fresh;
                held.isHeld = true;
                held.reason = null;
                held.heldAt = moment();
                requests.put(id, held);
                deposit(user, -held.cost);
                answer = "held";
            }
            rows.add(row("status", answer, "attempt", known != null && known.isHeld ? known.attempt : fresh));
        }
        return rows;
    }

    /** Empty when the cost is to be held. */
    private String holdAnswer(Tuple of, int i, @Nullable DrawRow draw, @Nullable RequestRow known) {
        int plays = of.getArrayOfShorts(3)[i];
        if (draw == null || draw.cost() == 0) {
            return "unknown";
        }
        int settled = playsOf(of.getArrayOfUUIDs(0)[i]).size();
        Integer before = settled > 0 ? Integer.valueOf(settled) : known != null && known.isHeld ? known.plays : null;
        if (before != null && before != plays) {
            return "reused";
        } else if (settled > 0) {
            return "settled";
        } else if (known != null && known.isHeld) {
            return "held";
        } else if (draw.closedAt != null) {
            return "closed";
        }
        String user = of.getArrayOfStrings(2)[i];
        long total = of.getArrayOfLongs(5)[i];
        long perDay = of.getArrayOfLongs(6)[i];
        Long[] counters = draw.players.getOrDefault(user, new Long[] {0L, -1L, 0L});
        if (total > 0 && counters[0] + plays > total) {
            return "limit";
        } else if (perDay > 0 && (counters[1] >= of.getArrayOfLongs(7)[i] ? counters[2] : 0) + plays > perDay) {
            return "day";
        }
        boolean limited = draw.prizes.stream().allMatch(each -> each.stock != null);
        long left = draw.prizes.stream()
                .mapToLong(each -> each.stock == null ? 0 : each.stock - each.issued)
                .sum();
        if (limited && left < plays) {
            return "exhausted";
        }
        return balance(user) < draw.cost() * plays ? "poor" : "";
    }

    private void giveBack(RequestRow held, String reason) {
        held.isHeld = false;
        held.reason = reason;
        deposit(held.user, held.cost);
    }

    /**
     * A request of {@code settle_plays}.
     *
     * @param place in the call, from 1
     */
    private record Turn(
            int place,
            @Nullable DrawRow draw,
            UUID id,
            String user,
            UUID attempt,
            OffsetDateTime at,
            long first,
            String counters,
            @Nullable Integer loaded,
            @Nullable String reason,
            List<Win> wins) {}

    private record Win(
            int part,
            int prize,
            long round,
            @Nullable Integer period,
            @Nullable Integer release) {}

    private List<Turn> turns(Tuple of) {
        List<Turn> turns = new ArrayList<>();
        for (int i = 0; i < of.getArrayOfUUIDs(7).length; i++) {
            turns.add(new Turn(
                    i + 1,
                    draws.get(of.getArrayOfUUIDs(5)[of.getArrayOfIntegers(6)[i] - 1]),
                    of.getArrayOfUUIDs(7)[i],
                    of.getArrayOfStrings(8)[i],
                    of.getArrayOfUUIDs(9)[i],
                    of.getArrayOfOffsetDateTimes(10)[i],
                    of.getArrayOfLongs(11)[i],
                    of.getArrayOfStrings(12)[i],
                    of.getArrayOfIntegers(13)[i],
                    of.getArrayOfStrings(14)[i],
                    new ArrayList<>()));
        }
        for (int p = 0; p < of.getArrayOfIntegers(15).length; p++) {
            turns.get(of.getArrayOfIntegers(15)[p] - 1)
                    .wins
                    .add(new Win(
                            of.getArrayOfShorts(16)[p],
                            of.getArrayOfShorts(17)[p],
                            of.getArrayOfLongs(18)[p],
                            of.getArrayOfIntegers(19)[p],
                            of.getArrayOfIntegers(20)[p]));
        }
        return turns;
    }

    private List<Map<String, Object>> settlePlays(Tuple of) {
        List<Turn> turns = turns(of);
        Set<UUID> seen = new HashSet<>();
        List<Turn> settled = new ArrayList<>(turns);
        settled.removeIf(turn -> !seen.add(turn.id) || isVoid(turn));
        List<Turn> unfit = unfit(settled);
        while (!unfit.isEmpty()) {
            settled.removeAll(unfit);
            unfit = unfit(settled);
        }
        Set<List<Object>> taken = new HashSet<>();
        for (Turn turn : settled) {
            for (Win win : turn.wins) {
                if (win.period != null && !taken.add(List.of(turn.draw.id, win.period, win.prize, win.release))) {
                    throw SimulatedPostgres.refused("23505", "a release is taken twice");
                }
            }
        }
        settled.forEach(this::settle);
        Integer[] voids = turns.stream()
                .filter(turn -> !settled.contains(turn) && !isReturnedByClose(turn))
                .map(Turn::place)
                .toArray(Integer[]::new);
        for (int place : voids) {
            tables.moves.voided(of.getArrayOfUUIDs(5)[of.getArrayOfIntegers(6)[place - 1] - 1]);
        }
        return one("settled_at", moment(), "void", voids, "codes", null);
    }

    private void settle(Turn turn) {
        DrawRow draw = turn.draw;
        for (Win win : turn.wins) {
            PrizeRow prize = draw.prizes.get(win.prize - 1);
            draw.plays.add(new PlayRow(
                    turn.first + win.part,
                    turn.id,
                    prize.issued + 1,
                    win.round,
                    turn.at,
                    win.prize,
                    win.part,
                    win.period,
                    win.release,
                    turn.loaded,
                    turn.user));
            prize.issue(win.round);
            deposit(turn.user, prize.amount);
        }
        if (turn.reason != null) {
            giveBack(requests.get(turn.id), turn.reason);
        } else if (draw.cost() > 0) {
            requests.remove(turn.id);
        }
        if (!turn.counters.isEmpty()) {
            draw.players.put(
                    turn.user,
                    Stream.of(turn.counters.split(",")).map(Long::valueOf).toArray(Long[]::new));
        }
    }

    private boolean isReturnedByClose(Turn turn) {
        RequestRow known = requests.get(turn.id);
        return turn.reason != null
                && known != null
                && "closed".equals(known.reason)
                && known.attempt.equals(turn.attempt);
    }

    /** Whether a request is void by itself. */
    private boolean isVoid(Turn turn) {
        DrawRow draw = turn.draw;
        RequestRow held = requests.get(turn.id);
        return draw == null
                || draw.closedAt != null
                || turn.reason == null
                        && (turn.first < draw.plays.size()
                                || turn.at.toInstant().isAfter(latest())
                                || turn.loaded != null && turn.loaded >= 0 && !draw.periods.containsKey(turn.loaded))
                || !playsOf(turn.id).isEmpty()
                || draw.cost() > 0 && !(held != null && held.isHeld && held.attempt.equals(turn.attempt))
                || turn.wins.stream().anyMatch(win -> win.period != null && isWrong(draw, win));
    }

    /** Whether a release is taken, withdrawn, or not planned, or its moment is too far. */
    private boolean isWrong(DrawRow draw, Win win) {
        return draw.isTaken(win.period, win.prize, win.release)
                || draw.releases.stream()
                        .filter(each -> each.period == win.period && each.prize == win.prize && each.n == win.release)
                        .noneMatch(each -> !each.withdrawn
                                && (!draw.definition.guarantees().isEmpty()
                                        || !each.moment.toInstant().isAfter(latest())));
    }

    /** Requests that do not fit behind the others: beyond a stock or a gap. */
    private static List<Turn> unfit(List<Turn> turns) {
        Map<Object, Long> counts = new HashMap<>();
        List<Turn> unfit = new ArrayList<>();
        for (Turn turn : turns) {
            boolean fits = true;
            for (Win win : turn.wins) {
                PrizeRow prize = turn.draw.prizes.get(win.prize - 1);
                long nth = prize.issued + counts.merge(prize, 1L, Long::sum);
                long next = turn.draw.plays.size() + counts.merge(turn.draw, 1L, Long::sum) - 1;
                fits &= (prize.stock == null || nth <= prize.stock) && turn.first + win.part == next;
            }
            if (!fits) {
                unfit.add(turn);
            }
        }
        return unfit;
    }

    private boolean planned(Tuple of) {
        DrawRow draw = draws.get(of.getUUID(0));
        int period = of.getInteger(1);
        if (draw == null
                || draw.closedAt != null
                || !draw.periods.tailMap(period).isEmpty()) {
            return false;
        }
        draw.periods.put(period, new PeriodRow(of.getOffsetDateTime(3)));
        Map<Integer, List<OffsetDateTime>> quotas = new TreeMap<>();
        for (int i = 0; i < of.getArrayOfShorts(4).length; i++) {
            List<OffsetDateTime> moments =
                    quotas.computeIfAbsent((int) of.getArrayOfShorts(4)[i], first -> new ArrayList<>());
            PrizeRow prize = draw.prizes.get(of.getArrayOfShorts(4)[i] - 1);
            if (prize.stock != null && moments.size() < prize.stock - prize.planned) {
                moments.add(of.getArrayOfOffsetDateTimes(5)[i]);
            }
        }
        quotas.forEach((prize, moments) -> {
            for (int n = 1; n <= moments.size(); n++) {
                draw.releases.add(new ReleaseRow(period, prize, n, moments.get(n - 1)));
            }
            draw.prizes.get(prize - 1).planned += moments.size();
        });
        return true;
    }

    private List<Map<String, Object>> settleEnds(Tuple of) {
        UUID[] ids = of.getArrayOfUUIDs(5);
        Integer[] periods = of.getArrayOfIntegers(6);
        Set<UUID> closed = new TreeSet<>();
        Set<UUID> early = new TreeSet<>();
        for (int i = 0; i < ids.length; i++) {
            DrawRow draw = draws.get(ids[i]);
            if (held.contains(ids[i])) {
                continue;
            }
            if (draw != null && periods[i] == null && draw.closedAt == null) {
                (draw.isPast(latest()) ? closed : early).add(draw.id);
            } else if (draw != null && periods[i] != null) {
                endPeriod(draw, periods[i]);
            }
        }
        for (UUID id : closed) {
            requests.values().stream()
                    .filter(each -> each.isHeld && each.draw.equals(id))
                    .forEach(each -> giveBack(each, "closed"));
            draws.get(id).closedAt = moment();
        }
        early.forEach(tables.moves::voided);
        Map<String, Object> row = row("settled_at", moment(), "closed", closed.toArray(UUID[]::new));
        row.putAll(row("wrong", new UUID[0], "early", early.toArray(UUID[]::new)));
        return List.of(row);
    }

    private void endPeriod(DrawRow draw, int n) {
        PeriodRow period = draw.periods.get(n);
        if (period == null || period.isEnded || period.ends.toInstant().isAfter(latest())) {
            return;
        }
        period.isEnded = true;
        for (ReleaseRow each : draw.releases) {
            if (each.period == n && !draw.isTaken(n, each.prize, each.n)) {
                each.withdrawn = true;
                draw.prizes.get(each.prize - 1).planned--;
            }
        }
    }
}
