package dev.hongbao.simulation;

import dev.hongbao.packet.Claim;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.simulation.DrawTables.DrawRow;
import dev.hongbao.simulation.PostgresTables.CampaignRow;
import dev.hongbao.simulation.PostgresTables.ClaimRow;
import dev.hongbao.simulation.PostgresTables.PacketRow;
import dev.hongbao.simulation.SimulatedPostgres.Advisory;
import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UnavailableException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One history: a world, its servers, a crowd, some faults, and the checks. All follows from the seed and the plan. */
final class History {
    /** A fault that each history has; null for none. */
    static final @Nullable String ALWAYS = System.getProperty("always");

    private static final double FAULTS_FROM = 300;
    private static final double FAULTS_TO = 2_500;

    /** The longest claim on a shard whose Redis is well. A new server may take the shard over; then the claim looks for itself. */
    private static final long APART_MILLIS = 1_500;

    /** A claim is tried again until it is answered: later than this after the calm, it is not answered in time. */
    private static final long ANSWER_MILLIS = 3_000;

    /** Within it every server notices that Postgres went back. */
    private static final long NOTICED_MILLIS = 2_000;

    /** The beginning of a script that appends to a full journal, too. */
    private static final String GIVES_MEMORY_BACK = "#!lua flags=allow-oom";

    /** After it servers that start together know each other. */
    private static final long STARTED_NANOS = 1_000 * World.MILLI;

    /**
     * While all is well, a claim or play is answered within it. Most take some milliseconds; who misses a message looks for himself after a
     * second at the latest.
     */
    private static final long WELL_MILLIS = 1_500;

    /** Later than this a frozen server has no shards: its session ends after five seconds, which may begin after a slow statement. */
    private static final long KEPT_MILLIS = 7_000;

    /** Longer than between two looks of an owner for a Redis that went back. */
    private static final long LOOK_BACK_MILLIS = 1_500;

    static final int SHARD_LOCKS = 0x6862;
    static final int PRESENCE_LOCKS = 0x686b;
    private static final int CHECK_EVERY = 16;
    private static final int LOADED_EVERY = 64;

    /** @param violation null for none */
    record Result(
            long seed,
            long hash,
            long events,
            Map<Fault, Integer> faults,
            @Nullable String violation) {}

    enum Fault {
        REDIS_FLUSHED(true),
        REDIS_LOST_A_KEY(false),
        REDIS_FORGOT_ITS_SCRIPTS(false),
        REDIS_RESTARTED(false),
        REDIS_LOST_ITS_TAIL(true),
        REDIS_OLD_PRIMARY(true),
        REDIS_SPLIT(true),
        REDIS_SILENT(false),
        REDIS_FULL(false),
        REDIS_CONNECTION(false),
        REDIS_LINE_SILENT(false),
        POSTGRES_RESTARTED(false),
        POSTGRES_SESSION(false),
        POSTGRES_SLOW(false),
        POSTGRES_SILENT(false),
        POSTGRES_REFUSES(false),
        POSTGRES_REFUSES_A_UNIT(false),
        POSTGRES_RESTORED(false),
        SERVER_DIES(false),
        SERVER_FREEZES(false),
        SERVER_STOPS(false),
        BUS_LOSES(false),

        /** Only with {@code -Dalways}: no script can tell, so until the owner notices, refusals, limits and odds may be wrong. */
        REDIS_SWAPPED(true);

        /** Whether a Redis may lose accepted claims, and others win their slots. */
        final boolean losesData;

        Fault(boolean losesData) {
            this.losesData = losesData;
        }
    }

    /** A claim that was refused by the limits of the packet's campaign. @param asked when it was made */
    private record Limited(String user, PacketRow packet, long asked) {}

    /** @param millis when it begins */
    record Planned(Fault fault, double millis) {}

    /**
     * The size and the faults of a history.
     *
     * @param claims of the crowd, as {@code plays}
     * @param room the entries that a journal takes
     */
    record Plan(
            int servers,
            int redises,
            int shards,
            int packets,
            int draws,
            int users,
            int claims,
            int plays,
            boolean hasFeed,
            int room,
            List<Planned> faults) {
        static Plan of(long seed) {
            SplittableRandom random = new SplittableRandom(seed ^ 0x5eed);
            List<Planned> faults = new ArrayList<>();
            int count = random.nextInt(4);
            for (int i = 0; i < count; i++) {
                Fault fault = Fault.values()[random.nextInt(Fault.REDIS_SWAPPED.ordinal())];
                faults.add(new Planned(fault, random.nextDouble(FAULTS_FROM, FAULTS_TO)));
            }
            if (ALWAYS != null) {
                faults.add(new Planned(Fault.valueOf(ALWAYS), random.nextDouble(FAULTS_FROM, FAULTS_TO)));
            }
            if (random.nextInt(6) == 0) {
                faults.add(new Planned(Fault.POSTGRES_REFUSES_A_UNIT, random.nextDouble(FAULTS_FROM, FAULTS_TO)));
            }
            return new Plan(
                    2 + random.nextInt(2),
                    random.nextInt(3) == 0 ? 3 : 1,
                    1 + random.nextInt(4),
                    2 + random.nextInt(5),
                    1 + random.nextInt(4),
                    4 + random.nextInt(12),
                    20 + random.nextInt(80),
                    10 + random.nextInt(60),
                    random.nextInt(4) == 0,
                    random.nextInt(4) == 0 ? 1 + random.nextInt(4) : 1_000,
                    List.copyOf(faults));
        }

        Plan with(List<Planned> others) {
            return new Plan(servers, redises, shards, packets, draws, users, claims, plays, hasFeed, room, others);
        }

        /** A part of the crowd. */
        Plan with(int fewerClaims, int fewerPlays) {
            return new Plan(
                    servers, redises, shards, packets, draws, users, fewerClaims, fewerPlays, hasFeed, room, faults);
        }

        boolean isWell() {
            return faults.isEmpty();
        }

        boolean hitsRedisOnly() {
            return faults.stream().allMatch(each -> each.fault.name().startsWith("REDIS"));
        }

        boolean isLong() {
            return faults.stream().anyMatch(each -> switch (each.fault) {
                case SERVER_FREEZES, POSTGRES_SILENT, POSTGRES_RESTORED, REDIS_SILENT, SERVER_DIES -> true;
                default -> false;
            });
        }
    }

    private static final class Violation extends RuntimeException {
        Violation(String what) {
            super(what, null, false, false);
        }
    }

    private final Plan plan;
    private final World world;
    private final PostgresTables tables;
    private final SimulatedPostgres postgres;
    private final RedisServers redis;
    private final SimulatedBus bus;
    private final Random nonces;
    private final List<SimulatedServer> servers = new ArrayList<>();
    private final Map<World.Host, Long> frozenAt = new HashMap<>();
    private final Map<World.Host, Long> thawedAt = new HashMap<>();
    private final Map<String, Long> winners = new HashMap<>();
    private final Map<Integer, Long> strangeSince = new HashMap<>();
    private final Map<UUID, Long> saidDrained = new HashMap<>();
    private final Map<UUID, Long> saidClaimed = new HashMap<>();
    private final Set<UUID> endedEarly = new HashSet<>();

    /** The number of a user's claims of a packet since an answer said {@code overloaded}. */
    private final Map<String, Integer> calls = new HashMap<>();

    private final List<Limited> limited = new ArrayList<>();
    private final Set<Claim> accepted = new HashSet<>();

    /** The packets and draws that Postgres refuses, or refused. */
    private final Set<UUID> refusedUnits = new HashSet<>();

    /** The servers of Redis that faults hit. */
    private final Set<SimulatedRedis> hit = new LinkedHashSet<>();

    /** Those of them that lost data. */
    private final Set<SimulatedRedis> lossy = new HashSet<>();

    private final Set<String> lostKeys = new HashSet<>();

    /** Until when a shard may be refused by older data with the same replication id: its next generation. */
    private final Map<Integer, Long> misled = new HashMap<>();

    /** The faults that wait for the next recovery of one of its shards. */
    private final Map<SimulatedRedis, Consumer<PostgresTables.Shard>> recovering = new HashMap<>();

    /** Shards with a draw whose creation no server has loaded. */
    private final Set<Integer> unloaded = new HashSet<>();

    private final List<UUID> packets = new ArrayList<>();
    private final Map<String, long[]> generations = new HashMap<>();
    private final Map<Fault, Integer> met = new EnumMap<>(Fault.class);
    private final Players players;
    private final Operator operator;
    private final long begun;

    /** Whether the crowd leaves what is set aside. */
    private final boolean givesUp;

    private int unanswered;
    private int lateClaims;
    private int hosts;

    /** A future may keep what its handler throws, so it is kept here. */
    private @Nullable String violation;

    /** Servers that an operator stops now. */
    private int stopping;

    /** When the last fault ends, with the restart of its server. */
    private long calmAt;

    private boolean isCalm;

    /** Postgres went back in time, and not every server need know. */
    private boolean isRestored;

    private History(long seed, Plan plan, @Nullable Consumer<String> story) {
        this.plan = plan;
        this.world = new World(seed, story);
        this.begun = world.now();
        this.givesUp = world.oneIn(2);
        this.tables = new PostgresTables(plan.shards, world::now, new PostgresTables.Moves() {
            @Override
            public void moved(int shard, long epoch, long from, long to) {
                world.note(shard * 31L + to);
                check(to > from, () -> "a cursor goes back");
            }

            @Override
            public void voided(UUID unit) {
                check(losesData(unit), () -> "what was accepted of " + unit + " is void, though Redis lost nothing");
            }

            @Override
            public void drawn(int shard) {
                long epoch = tables.shards.get(shard).epoch;
                check(
                        epoch == 1 || unloaded.contains(shard) || !plan.isWell(),
                        () -> "shard " + shard + " is recovered for no reason: epoch " + epoch);
                unloaded.remove(shard);
                misled.computeIfPresent(shard, (which, until) -> Math.min(until, world.now()));
                operator.recovering(shard);
                Consumer<PostgresTables.Shard> amid = recovering.remove(redis.of(shard));
                if (amid != null) {
                    amid.accept(tables.shards.get(shard));
                }
            }

            @Override
            public void setAside(UUID unit) {
                check(refusedUnits.contains(unit), () -> unit + " is set aside, though Postgres refuses none of it");
            }
        });
        this.players = new Players(this, world, tables.draws);
        this.postgres = new SimulatedPostgres(world, tables);
        this.redis = new RedisServers(world, plan.redises, this::wrote);
        this.operator = new Operator(this, world, postgres, redis);
        this.bus = new SimulatedBus(world, plan.isWell());
        this.nonces = new Random() {
            private int drawn;

            @Override
            public void nextBytes(byte[] bytes) { // few and short-lived, so that compiled scripts are found again
                bytes[bytes.length - 1] = (byte) ++drawn;
            }
        };
    }

    static Result run(long seed, Plan plan, @Nullable Consumer<String> story) {
        History history = new History(seed, plan, story);
        try {
            history.run();
        } catch (Violation found) {
            // told by check
        } catch (RuntimeException thrown) {
            StackTraceElement[] at = thrown.getStackTrace();
            history.violated(
                    "thrown: " + thrown + (at.length == 0 ? "" : " at " + at[0] + " " + (at.length > 1 ? at[1] : "")));
        }
        return new Result(seed, history.world.hash(), history.world.events(), history.met, history.violation);
    }

    void check(boolean holds, Supplier<String> what) {
        if (!holds) {
            String found = what.get();
            violated(found);
            throw new Violation(found);
        }
    }

    private void violated(String what) {
        if (violation == null) {
            violation = what;
            world.tell(() -> "VIOLATION " + what);
        }
    }

    private void run() {
        world.tell(() -> plan.toString());
        for (int shard = 0; shard < plan.shards; shard++) {
            if (world.oneIn(2)) {
                tables.campaigns.put(shard, campaign(shard));
            }
        }
        for (int i = 0; i < plan.packets; i++) {
            UUID id = packet();
            tables.add(id, shard(id), amounts(), lives());
        }
        for (int i = 0; i < plan.draws; i++) {
            world.after(world.oneIn(3) ? world.millis(100, FAULTS_TO) : 0, null, this::draw);
        }
        for (int i = 0; i < plan.servers; i++) {
            world.after(world.millis(0, 30), null, this::startServer);
        }
        for (int i = 0; i < plan.claims; i++) {
            unanswered++;
            String user = user();
            world.after(crowded(), null, () -> begin(user, packets.get(world.random.nextInt(packets.size()))));
        }
        for (int i = 0; i < plan.plays; i++) {
            String user = user();
            unanswered++;
            world.after(crowded(), null, () -> {
                unanswered--; // counted as a play from now on
                players.play(user);
            });
        }
        if (world.oneIn(3)) {
            world.after(world.millis(200, FAULTS_TO), null, players::end);
        }
        for (int i = 0; i < plan.packets / 2; i++) {
            world.after(world.millis(300, FAULTS_TO), null, this::send);
        }
        for (int i = 0; i < plan.packets / 2; i++) {
            world.after(world.millis(200, FAULTS_TO), null, this::end);
        }
        for (CampaignRow campaign : tables.campaigns.values()) {
            if (world.oneIn(3)) {
                world.after(world.millis(200, FAULTS_TO), null, () -> end(campaign));
            }
        }
        calmAt = world.now() + (long) (FAULTS_TO * World.MILLI);
        for (Planned each : plan.faults) {
            world.after((long) (each.millis * World.MILLI), null, () -> begin(each.fault));
        }
        while (world.now() < calmAt || stopping > 0) {
            next();
        }
        long calm = Math.max(world.now(), calmAt);
        world.tell(() -> "calm");
        bus.lose(0);
        isCalm = true;
        long bound = (plan.isLong() ? 15_000 : 5_000) * World.MILLI;
        while (plan.hasFeed && untold() != null) { // before other claims make the feed go on
            check(world.now() < calm + bound, this::untold);
            next(200);
        }
        calm = Math.max(calm, world.now());
        packets.forEach(this::claimLate);
        players.playEach();
        while (unsettled() != null) {
            check(world.now() < calm + bound, () -> "not settled in time: " + unsettled());
            next(200);
        }
        world.tell(() -> "settled");
        if (isRestored) {
            bound += askAgain();
        }
        bound += ANSWER_MILLIS * World.MILLI;
        while (unanswered > 0 || players.unanswered() > 0 || unsettled() != null) {
            check(
                    world.now() < calm + bound,
                    () -> unanswered + " claims and " + players.unanswered() + " plays are not answered, "
                            + unsettled());
            next(200);
        }
        bound += 2 * SimulatedServer.HELD_LONG.toNanos();
        while (players.held() != null || unsettled() != null) {
            check(world.now() < calm + bound, () -> "the cost is still held of " + players.held() + ", " + unsettled());
            next(200);
        }
        compareDraws();
        if (world.oneIn(8)) { // it takes two looks
            bound = world.now() + 5_000 * World.MILLI;
            while (unseen() != null) {
                long limit = bound;
                check(world.now() < limit, () -> "the operator sees " + unseen());
                next(200);
            }
        }
        bound = world.now() + 5_000 * World.MILLI;
        while (unanswered > 0 || players.unanswered() > 0 || unsettled() != null) { // of a send that ended meanwhile
            long limit = bound;
            check(world.now() < limit, () -> unanswered + " late claims are not answered, " + unsettled());
            next();
        }
        checkEnd();
        players.checkEnd();
    }

    private @Nullable String untold() {
        return Stream.concat(
                        tables.packets.values().stream().map(PacketRow::untold),
                        tables.draws.draws.values().stream().map(DrawRow::untold))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Waits until every server must know that Postgres went back, and asks once more. @return the nanoseconds that this took */
    private long askAgain() {
        long begun = world.now();
        while (world.now() - begun < NOTICED_MILLIS * World.MILLI) {
            next();
        }
        isRestored = false;
        winners.clear();
        players.forgetAnswers();
        winnersComeBack();
        packets.forEach(this::claimLate);
        players.playEach();
        return world.now() - begun;
    }

    /** A late attempt of a server may still change a draw: then it is compared again. */
    private void compareDraws() {
        List<String> differences = new ArrayList<>();
        for (int tries = 0; tries < 10; tries++) {
            differences.clear();
            SimulatedServer server = someServer();
            int[] pending = {server == null ? 0 : plan.shards};
            for (int shard = 0; server != null && shard < plan.shards; shard++) {
                server.compare(shard).onComplete(compared -> {
                    pending[0]--;
                    differences.addAll(
                            compared.succeeded() ? compared.result() : List.of(String.valueOf(compared.cause())));
                });
            }
            while (pending[0] > 0) {
                next();
            }
            differences.removeIf(players::isIdle);
            if (server != null && differences.isEmpty()) {
                return;
            }
            next(400);
        }
        check(false, () -> "Redis differs from Postgres: " + differences);
    }

    /** Null if every server shows the operator what is, and the other servers its numbers; else what is wrong. */
    private @Nullable String unseen() {
        for (SimulatedServer server : servers) {
            if (server.host.isFrozen() || !server.isServing()) {
                continue;
            }
            if (!isShown(server.host, server.numbers())) {
                return server.host + " without its numbers " + server.numbers();
            }
            for (PostgresTables.Shard shard : tables.shards) {
                if (server.gauge("epoch", shard.id) != shard.epoch || server.gauge("oldest.unsettled", shard.id) > 0) {
                    return "shard " + shard.id + " at " + server.host + " with entries for "
                            + server.gauge("oldest.unsettled", shard.id) + " s";
                }
            }
        }
        return null;
    }

    private String user() {
        return "user-" + world.random.nextInt(plan.users);
    }

    /** A moment for a call: many come together. */
    private long crowded() {
        double at =
                world.oneIn(3) ? 400 + world.random.nextInt(3) * 700 : world.random.nextDouble(100, FAULTS_TO + 500);
        return world.millis(at, at + 20);
    }

    private void draw() {
        UUID id = new UUID(0x7000, world.random.nextLong());
        players.draw(id, shard(id));
        unloaded.add(shard(id));
    }

    private void next(int events) {
        for (int i = 0; i < events; i++) {
            next();
        }
    }

    private void next() {
        world.step();
        if (world.events() % CHECK_EVERY == 0) {
            checkOwners();
        }
        if (world.events() % LOADED_EVERY == 0) {
            refusedUnits.forEach(this::checkLoaded);
        }
    }

    /** Limits in all, a day, a product; some of them. */
    private CampaignRow campaign(int shard) {
        int total = world.random.nextInt(4);
        int aDay = world.random.nextInt(3);
        return new CampaignRow(
                new UUID(0x7000, world.random.nextLong()),
                shard,
                total,
                aDay,
                total + aDay == 0 ? 1 : world.random.nextInt(3));
    }

    private UUID packet() {
        UUID id = new UUID(0x7000, world.random.nextLong());
        packets.add(id);
        return id;
    }

    private int shard(UUID id) {
        return Math.floorMod(id.hashCode(), plan.shards);
    }

    private Long[] amounts() {
        return world.random.longs(1 + world.random.nextInt(10), 1, 100).boxed().toArray(Long[]::new);
    }

    private long lives() {
        return world.oneIn(3) ? 1_000 + world.random.nextInt(3_000) : 3_600_000;
    }

    private void startServer() {
        World.Host host = new World.Host("server-" + ++hosts, world.millis(0, 1_000_000));
        SimulatedServer server = new SimulatedServer(
                world,
                host,
                postgres,
                redis,
                bus.line(host),
                nonces,
                all -> check(
                        postgres.hasJustEnded(host) || all.stream().anyMatch(numbers -> isShown(host, numbers)),
                        () -> host + " sees " + all),
                plan.hasFeed,
                plan.room);
        servers.add(server);
        if (world.oneIn(4)) {
            world.after(world.millis(100, FAULTS_TO), host, server::showAnother);
        }
        world.tell(() -> host + " starts");
        world.after(
                0,
                host,
                () -> server.start()
                        .onSuccess(started -> world.tell(() -> host + " serves"))
                        .onFailure(fault -> {
                            world.tell(() -> host + " does not start: " + fault);
                            kill(server, 200);
                        }));
    }

    private boolean isShown(World.Host host, Set<Integer> numbers) {
        return numbers.stream().allMatch(number -> postgres.holds(host, new Advisory(PRESENCE_LOCKS, number)));
    }

    private void kill(SimulatedServer server, long downMillis) {
        if (server.host.isDead()) {
            return;
        }
        server.host.die();
        postgres.hostDied(server.host);
        redis.hostDied(server.host);
        servers.remove(server);
        world.after(downMillis * World.MILLI, null, this::startServer);
    }

    @Nullable
    SimulatedServer someServer() {
        List<SimulatedServer> serving =
                servers.stream().filter(SimulatedServer::isServing).toList();
        return serving.isEmpty() ? null : serving.get(world.random.nextInt(serving.size()));
    }

    private void send() {
        SimulatedServer server = someServer();
        if (server == null || server.host.isFrozen()) {
            return;
        }
        UUID id = new UUID(0x7000, world.random.nextLong());
        world.tell(() -> server.host + " sends packet " + id + " in shard " + shard(id));
        server.send(id, shard(id), amounts(), lives()).onComplete(sent -> {
            if (sent.succeeded()) {
                packets.add(id);
                if (isCalm) {
                    claimLate(id);
                }
            }
        });
    }

    /** A lost key is noticed by the next claim. */
    private void claimLate(UUID packet) {
        unanswered++;
        begin("late-" + lateClaims++, packet);
    }

    /** The host ends a packet early. */
    private void end() {
        SimulatedServer server = someServer();
        UUID id = packets.get(world.random.nextInt(packets.size()));
        long asked = world.now();
        boolean cancels = world.oneIn(2);
        if (server == null || world.oneIn(2)) {
            return;
        }
        world.tell(() -> server.host + (cancels ? " cancels " : " closes ") + id);
        endedEarly.add(id);
        world.after(
                world.transit(),
                server.host,
                () -> server.end(id, cancels).onComplete(done -> {
                    PacketRow packet = tables.packets.get(id);
                    world.tell(() -> server.host + " ended " + id + ": " + done);
                    if (packet == null || !isSure()) {
                        return;
                    }
                    if (done.succeeded()) {
                        check(packet.closedAt != null, () -> id + " is not ended");
                        check(
                                !cancels || packet.claims.isEmpty(),
                                () -> id + " is cancelled, but has " + packet.claims);
                    } else if (done.cause() instanceof RefusedException refused) {
                        check(
                                cancels && refused.refusal() == Refusal.CLAIMED,
                                () -> "an early end is refused: " + refused);
                        saidClaimed.put(id, asked);
                    }
                }));
    }

    private void end(CampaignRow campaign) {
        SimulatedServer server = someServer();
        if (server != null) {
            world.tell(() -> server.host + " ends " + campaign);
            world.after(world.transit(), server.host, () -> server.endCampaign(campaign.id));
        }
    }

    /** Some winners ask once more, or for a share of another pool of the campaign. */
    private void winnersComeBack() {
        List<PacketRow> some = List.copyOf(tables.packets.values());
        for (int i = 0; i < 6; i++) {
            PacketRow packet = some.get(world.random.nextInt(some.size()));
            if (!packet.claims.isEmpty()) {
                String user = packet.claims.get(packet.claims.size() - 1).user();
                comeBack(user, packet.id);
                some.stream()
                        .filter(other -> other != packet && other.campaign != null && other.campaign == packet.campaign)
                        .forEach(other -> comeBack(user, other.id));
            }
        }
    }

    private void comeBack(String user, UUID packet) {
        unanswered++;
        world.after(world.millis(0, 150), null, () -> begin(user, packet));
    }

    /** A client's call, until it is answered. */
    private void begin(String user, UUID packet) {
        SimulatedServer server = someServer();
        if (server == null) {
            world.after(world.millis(50, 200), null, () -> begin(user, packet));
            return;
        }
        boolean[] over = {false};
        Runnable again = () -> {
            if (!over[0]) {
                over[0] = true;
                world.after(world.millis(20, 400), null, () -> begin(user, packet));
            }
        };
        world.after(world.transit(), server.host, () -> claim(server, user, packet, over, again));
        watch(server, over, again, "the claim of " + user + " on " + packet);
    }

    /** A client gives up in the end; a server that is well has answered before. */
    void watch(SimulatedServer server, boolean[] over, Runnable again, Object call) {
        long sent = world.now();
        world.after(4_000 * World.MILLI, null, () -> {
            check(
                    over[0] || wasFrozen(server, sent) || !server.isServing(),
                    () -> call + " at " + server.host + " has no answer");
            again.run();
        });
    }

    private boolean wasFrozen(SimulatedServer server, long since) {
        return server.host.isFrozen() || thawedAt.getOrDefault(server.host, 0L) >= since;
    }

    void checkInTime(SimulatedServer server, long asked, Object call) {
        long took = (world.now() - asked) / World.MILLI;
        check(
                wasFrozen(server, asked) || took <= SimulatedServer.TIMEOUT.toMillis() + 1_250,
                () -> call + " at " + server.host + " took " + took + " ms");
        check(
                !plan.isWell() || asked - begun < STARTED_NANOS || took <= WELL_MILLIS,
                () -> call + " took " + took + " ms, though all is well");
    }

    /** A fault of one Redis delays no claim on a shard of another one. */
    private void checkApart(SimulatedServer server, long asked, int shard, Object call) {
        long took = (world.now() - asked) / World.MILLI;
        check(
                !plan.hitsRedisOnly() || hit.contains(redis.of(shard)) || took <= APART_MILLIS,
                () -> call + " at " + server.host + " took " + took + " ms, though only " + hit + " suffered");
    }

    private void claim(SimulatedServer server, String user, UUID id, boolean[] over, Runnable again) {
        long asked = world.now();
        ClaimRow held = held(user, id);
        boolean isFirst = calls.merge(user + id, 1, Integer::sum) == 1;
        check(!isFirst || held == null, () -> user + " was told that nothing was done on " + id + ", and has " + held);
        boolean isMember = !world.oneIn(8) || user.startsWith("late-");
        server.claim(user, isMember, id, accepted::add).onComplete(done -> {
            checkInTime(server, asked, "the claim of " + user + " on " + id);
            checkApart(server, asked, shard(id), "the claim of " + user + " on " + id);
            if (done.failed()) {
                check(
                        done.cause() instanceof UnavailableException || done.cause() instanceof RedisFault,
                        () -> "a claim fails with " + done.cause());
                if (isOverloaded(done.cause()) && calls.get(user + id) == 1) {
                    checkNothingDone(user, id);
                }
                if (!givesUp(done.cause())) {
                    world.after(world.transit(), null, again);
                    return;
                }
            } else {
                answered(server, user, isMember, id, asked, held, done.result());
            }
            world.after(world.transit(), null, () -> {
                if (!over[0]) {
                    over[0] = true;
                    unanswered--;
                }
            });
        });
    }

    private @Nullable ClaimRow held(String user, UUID id) {
        PacketRow packet = tables.packets.get(id);
        return packet == null ? null : packet.of(user);
    }

    /** Whether nobody calls again after it, so that only the shard's owner can notice that the unit came back. */
    boolean givesUp(Throwable fault) {
        return givesUp
                && fault instanceof UnavailableException refused
                && refused.reason() == UnavailableException.Reason.SET_ASIDE;
    }

    /** Whether a call was refused before it began. */
    static boolean isOverloaded(Throwable fault) {
        return fault instanceof UnavailableException refused
                && refused.reason() == UnavailableException.Reason.OVERLOADED;
    }

    /** Also of what is accepted and settles later: the next call looks again. */
    private void checkNothingDone(String user, UUID id) {
        PostgresTables.Shard shard = tables.shards.get(shard(id));
        String key = shard.stamp() + ":p:" + id;
        check(
                held(user, id) == null && redis.model(shard.id).call(List.of("HGET", key, user)) == null,
                () -> user + " is told that nothing was done, but has a slot of " + id);
        calls.remove(user + id);
    }

    private void answered(
            SimulatedServer server,
            String user,
            boolean isMember,
            UUID id,
            long asked,
            @Nullable ClaimRow held,
            ClaimOutcome outcome) {
        PacketRow packet = tables.packets.get(id);
        String call = user + " on " + id + " of shard " + shard(id) + " at " + server.host;
        world.tell(() -> "answer to " + call + ": " + outcome.kind()
                + (outcome.claim() == null ? "" : " slot " + outcome.claim().slot()));
        world.note(outcome.kind().name().hashCode() + user.hashCode());
        if (!isSure()) {
            return;
        }
        if (outcome.kind().isRefusal()) {
            check(
                    held == null || isMisled(asked, id),
                    () -> call + " is refused as " + outcome.kind() + ", but it had " + held);
            switch (outcome.kind()) {
                case DRAINED -> saidDrained.merge(id, asked, Math::max);
                case EXPIRED ->
                    check(
                            packet != null && !packet.expires.isAfter(tables.now()) || endedEarly.contains(id),
                            () -> call + " is refused as expired too early");
                case LIMITED -> limited.add(new Limited(user, packet, asked));
                case NOT_FOUND ->
                    check(
                            packet == null && met.containsKey(Fault.POSTGRES_RESTORED),
                            () -> call + " is refused, but there it is");
                default ->
                    check(
                            outcome.kind() == ClaimOutcome.Kind.NOT_ELIGIBLE && !isMember,
                            () -> call + " is refused as " + outcome.kind());
            }
            return;
        }
        ClaimRow row = packet == null ? null : packet.of(user);
        Claim won = outcome.wonClaim();
        check(row != null, () -> call + " is answered with slot " + won.slot() + ", which is not committed");
        check(
                row != null && row.slot() == won.slot() && row.amount() == won.amount(),
                () -> call + " is answered with slot " + won.slot() + ", but has " + row);
        Long known = winners.putIfAbsent(user + id, (long) won.slot());
        check(known == null || known == won.slot(), () -> call + " has had slot " + known);
    }

    /** Whether answers tell what is committed. */
    boolean isSure() {
        return !isRestored;
    }

    /** Whether accepted claims or plays may be lost, of a packet or a draw. */
    boolean losesData(UUID unit) {
        return losesData(shard(unit)) || operator.hasDropped(unit);
    }

    /** Whether a refusal may follow from data of before, or of a former primary, that no script can tell from its own. */
    boolean isMisled(long asked, UUID unit) {
        return Math.max(
                        misled.getOrDefault(shard(unit), 0L),
                        redis.of(shard(unit)).formerUntil())
                >= asked;
    }

    /** Whether plays and claims of a unit may have followed from such data. */
    boolean wasMisled(UUID unit) {
        return misled.containsKey(shard(unit));
    }

    /** Whether a refusal may be wrong: what it followed from was lost later. */
    boolean losesDataAfter(long asked, UUID unit) {
        return met.containsKey(Fault.POSTGRES_RESTORED)
                || operator.hasDropped(unit)
                || isMisled(asked, unit)
                || losesData(shard(unit)) && redis.of(shard(unit)).changedAt() >= asked;
    }

    private boolean losesData(int shard) {
        return met.containsKey(Fault.POSTGRES_RESTORED) || lossy.contains(redis.of(shard));
    }

    private void lasts(double least, double most, Runnable end) {
        long until = world.now() + world.millis(least, most);
        calmAt = Math.max(calmAt, until);
        world.at(until, null, end);
    }

    private void begin(Fault fault) {
        met.merge(fault, 1, Integer::sum);
        SimulatedRedis hit = redis.some();
        this.hit.add(hit);
        if (fault.losesData) {
            lossy.add(hit);
        }
        world.tell(() -> "fault: " + fault + (fault.name().startsWith("REDIS") ? " at " + hit : ""));
        switch (fault) {
            case REDIS_FLUSHED -> {
                lostKeys.addAll(hit.model().names());
                hit.flush();
            }
            case REDIS_LOST_A_KEY -> {
                List<String> names = hit.model().names();
                if (world.oneIn(3)) {
                    recovers(hit, shard -> loseAmidLoad(shard, 100));
                } else if (!names.isEmpty()) {
                    lose(hit, names.get(world.random.nextInt(names.size())));
                }
            }
            case REDIS_FORGOT_ITS_SCRIPTS -> hit.forgetScripts();
            case REDIS_RESTARTED -> {
                lasts(20, 400, () -> {});
                hit.restart(hit.model(), calmAt - world.now());
            }
            case REDIS_LOST_ITS_TAIL -> {
                SimulatedRedis.Snapshot older = hit.snapshot();
                lasts(50, 900, () -> hit.restart(older.data(), world.millis(10, 200)));
                calmAt += 200 * World.MILLI;
            }
            case REDIS_OLD_PRIMARY -> {
                SimulatedRedis.Snapshot older = hit.snapshot();
                lasts(50, 900, () -> {
                    hit.promote(older, world.oneIn(2));
                    winnersComeBack(); // before anybody notices the loss
                    players.comeBack();
                });
            }
            case REDIS_SPLIT -> {
                SimulatedRedis.Snapshot older = hit.snapshot();
                lasts(50, 900, () -> {
                    SimulatedServer stays = someServer();
                    if (stays != null) {
                        world.tell(() -> stays.host + " stays at the former primary of " + hit);
                        hit.promote(older.data(), stays.host);
                        world.after(world.millis(50, 900), null, hit::endFormer);
                    }
                });
                calmAt += 900 * World.MILLI;
            }
            case REDIS_SWAPPED -> {
                SimulatedRedis.Snapshot older = hit.snapshot();
                lasts(50, 900, () -> {
                    lostKeys.addAll(hit.model().names());
                    hit.swap(older.data());
                    tables.shards.stream()
                            .filter(shard -> redis.of(shard.id) == hit)
                            .forEach(this::mislead);
                    winnersComeBack();
                    players.comeBack();
                });
                calmAt += LOOK_BACK_MILLIS * World.MILLI;
            }
            case REDIS_SILENT -> {
                hit.fallSilent();
                lasts(100, 2_500, hit::speak);
            }
            case REDIS_FULL -> {
                hit.fill(true);
                lasts(100, 1_000, () -> hit.fill(false));
            }
            case REDIS_CONNECTION -> hit.breakOne();
            case REDIS_LINE_SILENT -> {
                SimulatedServer victim = someServer();
                if (victim != null) {
                    SimulatedRedis.Loss loss =
                            SimulatedRedis.Loss.values()[world.random.nextInt(SimulatedRedis.Loss.values().length)];
                    boolean isOne = world.oneIn(3);
                    world.tell(() -> (isOne ? "a line of " : "all lines of ") + victim.host + " to Redis lose " + loss);
                    if (isOne) {
                        hit.swallow(victim.host, loss);
                    } else {
                        hit.cutOff(victim.host, loss);
                        lasts(0, 2_500, () -> hit.letIn(victim.host));
                    }
                }
            }
            case POSTGRES_RESTARTED -> {
                long down = world.millis(50, 800);
                lasts(down / 1e6, down / 1e6 + 1, () -> {});
                postgres.restart(down);
            }
            case POSTGRES_SESSION -> postgres.breakOne();
            case POSTGRES_SLOW -> {
                postgres.slowDown(world.millis(20, 900));
                lasts(100, 1_500, () -> postgres.slowDown(0));
            }
            case POSTGRES_SILENT -> {
                postgres.fallSilent();
                lasts(100, 3_000, postgres::speak);
            }
            case POSTGRES_REFUSES -> {
                postgres.refuse(world.oneIn(2) ? "40P01" : "53100");
                lasts(20, 800, () -> postgres.refuse(""));
            }
            case POSTGRES_REFUSES_A_UNIT -> {
                List<UUID> units = world.oneIn(2) ? packets : List.copyOf(tables.draws.draws.keySet());
                UUID unit = units.isEmpty() ? null : units.get(world.random.nextInt(units.size()));
                if (unit != null && refusedUnits.add(unit)) {
                    world.tell(() -> "Postgres refuses " + unit);
                    tables.poisoned.add(unit);
                    lasts(200, 2_000, () -> tables.poisoned.remove(unit));
                    operator.begin();
                }
            }
            case POSTGRES_RESTORED -> {
                Runnable back = tables.backUp();
                lasts(50, 900, () -> {
                    world.tell(() -> "Postgres goes back");
                    isRestored = true;
                    postgres.restart(world.millis(10, 200));
                    back.run();
                    players.restored();
                });
                calmAt += 200 * World.MILLI;
            }
            case SERVER_DIES -> {
                SimulatedServer victim = someServer();
                if (victim != null) {
                    long down = world.random.nextInt(20, 1_500);
                    kill(victim, down);
                    world.tell(() -> victim.host + " is killed");
                    lasts(down + 100, down + 101, () -> {});
                }
            }
            case SERVER_FREEZES -> {
                if (world.oneIn(3)) {
                    recovers(hit, shard -> world.after(world.millis(0, 6), null, () -> freeze(owner(shard))));
                } else {
                    freeze(someServer());
                }
            }
            case SERVER_STOPS -> {
                SimulatedServer victim = someServer();
                if (victim != null && !victim.host.isFrozen()) {
                    world.tell(() -> victim.host + " stops");
                    stopping++;
                    World.Host host = victim.host;
                    world.after(
                            0,
                            host,
                            () -> victim.stop().onComplete(stopped -> {
                                world.tell(() -> host + " has stopped");
                                stopping--;
                                long down = world.random.nextInt(1, 500);
                                kill(victim, down);
                                lasts(down, down + 1, () -> {});
                            }));
                }
            }
            case BUS_LOSES -> {
                bus.lose(world.oneIn(2) ? 100 : 50);
                lasts(200, 2_000, () -> bus.lose(0));
            }
        }
    }

    /** Its owner notices by what it trims again. A new owner cannot, as what it trims first may be new: an operator helps. */
    private void mislead(PostgresTables.Shard shard) {
        misled.put(shard.id, Long.MAX_VALUE);
        SimulatedServer owner = owner(shard);
        world.after(LOOK_BACK_MILLIS * World.MILLI, null, () -> {
            boolean isUnnoticed = misled.get(shard.id) == Long.MAX_VALUE;
            if (isUnnoticed && (plan.faults.size() > 1 || owner != owner(shard))) {
                redis.of(shard.id).forgetScripts();
            }
        });
    }

    /** Redis forgets its scripts, so that its shards are recovered. @param amid gets the first one after its draw of a generation */
    private void recovers(SimulatedRedis hit, Consumer<PostgresTables.Shard> amid) {
        recovering.put(hit, amid);
        hit.forgetScripts();
    }

    private void lose(SimulatedRedis hit, String key) {
        world.tell(() -> "Redis loses " + key);
        lostKeys.add(key);
        if (key.endsWith(":journal")) {
            lossy.add(hit);
        }
        hit.lose(key);
    }

    /** Redis loses a key of which a recovery has written the first part. */
    private void loseAmidLoad(PostgresTables.Shard shard, int tries) {
        if (isCalm) {
            return; // nobody may ask for the key any more
        }
        List<String> units = redis.model(shard.id).names().stream()
                .filter(key -> key.startsWith(shard.stamp() + ":p:") || key.startsWith(shard.stamp() + ":d:"))
                .toList();
        if (!units.isEmpty()) {
            lose(redis.of(shard.id), units.get(world.random.nextInt(units.size())));
        } else if (tries > 0) {
            world.after(world.millis(0, 0.4), null, () -> loseAmidLoad(shard, tries - 1));
        }
    }

    private @Nullable SimulatedServer owner(PostgresTables.Shard shard) {
        return servers.stream()
                .filter(server -> postgres.holds(server.host, new Advisory(SHARD_LOCKS, shard.id)))
                .findFirst()
                .orElse(null);
    }

    private void freeze(@Nullable SimulatedServer victim) {
        if (victim != null && !victim.host.isFrozen() && !isCalm) {
            world.tell(() -> victim.host + " freezes");
            world.freeze(victim.host);
            frozenAt.put(victim.host, world.now());
            lasts(50, 8_000, () -> {
                thawedAt.put(victim.host, world.now());
                world.thaw(victim.host);
            });
        }
    }

    /** A script wrote; a generation that Postgres has replaced must not. */
    private void wrote(String text) {
        long[] of = generations.computeIfAbsent(text, History::generation);
        PostgresTables.Shard shard = tables.shards.get((int) of[0]);
        check(
                losesData(shard.id) || shard.epoch <= of[1],
                () -> "a script of the replaced generation " + of[1] + " of shard " + of[0] + " wrote");
        if (text.contains("XADD") && !text.startsWith(GIVES_MEMORY_BACK)) {
            String journal = shard.stamp() + ":journal";
            check(
                    losesData(shard.id) || (long) redis.model(shard.id).call(List.of("XLEN", journal)) <= plan.room,
                    () -> journal + " has more entries than " + plan.room);
        }
    }

    private static long[] generation(String text) {
        int at = text.indexOf("{" + SimulatedServer.NAMESPACE + ":") + SimulatedServer.NAMESPACE.length() + 2;
        int end = text.indexOf("}:", at);
        return new long[] {
            Long.parseLong(text.substring(at, end)), Long.parseLong(text.substring(end + 2, text.indexOf('-', end)))
        };
    }

    /** A server that holds no lock of a shard does not count itself as its owner for long. One that is frozen soon holds none. */
    private void checkOwners() {
        for (SimulatedServer server : servers) {
            if (server.host.isFrozen()) {
                long unheard = world.now() - Math.max(frozenAt.get(server.host), postgres.silentAt());
                check(
                        unheard < KEPT_MILLIS * World.MILLI
                                || tables.shards.stream().noneMatch(shard -> server == owner(shard)),
                        () -> server.host + " is frozen, and keeps its shards");
                continue;
            }
            for (int shard : server.shards.owned()) {
                boolean owns = postgres.holds(server.host, new Advisory(SHARD_LOCKS, shard));
                int key = server.host.name.hashCode() * 31 + shard;
                if (owns) {
                    strangeSince.remove(key);
                } else {
                    long since = strangeSince.computeIfAbsent(key, first -> world.now());
                    check(
                            world.now() - Math.max(since, thawedAt.getOrDefault(server.host, 0L))
                                    < 11_000 * World.MILLI,
                            () -> server.host + " still acts as the owner of shard " + shard);
                }
            }
        }
    }

    /**
     * A unit that an operator brings back is loaded as a whole, or not at all. A Redis that loses its tail amid a recovery may have a part:
     * its scripts know by its replication id that they may not decide, and the owner recovers the shard once more. A key that Redis lost
     * may come back in part: scripts take it for missing, and the owner recovers its shard.
     */
    private void checkLoaded(UUID unit) {
        PostgresTables.Shard shard = tables.shards.get(shard(unit));
        String prefix = shard.stamp();
        for (String key : List.of(prefix + ":p:" + unit, prefix + ":d:" + unit)) {
            RedisModel model = redis.model(shard.id);
            boolean isPart = shard.replid.equals(model.replid)
                    && !lostKeys.contains(key)
                    && model.has(key)
                    && model.call(List.of("HGET", key, "#")) == null;
            check(!isPart, () -> "a part of " + key + " is loaded");
        }
    }

    /** Null if every shard is settled, and Redis has it as Postgres has it; else what is missing. */
    private @Nullable String unsettled() {
        for (PostgresTables.Shard shard : tables.shards) {
            String stamp = shard.stamp();
            if (shard.epoch == 0 || !redis.model(shard.id).has(stamp + ":journal")) {
                return "shard " + shard.id + " has no journal of its generation " + shard.epoch;
            }
            long entries = (Long) redis.model(shard.id).call(List.of("XLEN", stamp + ":journal"));
            if (entries > 0) {
                return "shard " + shard.id + " has " + entries + " entries in its journal, its cursor is "
                        + shard.lastSeq;
            }
            if (!redis.of(shard.id).hasScripts(stamp)) {
                return "shard " + shard.id + " lacks its scripts";
            }
        }
        for (CampaignRow campaign : tables.campaigns.values()) {
            String key = tables.shards.get(campaign.shard).stamp() + ":c:" + campaign.id;
            if (campaign.ends != null && campaign.closedAt == null) {
                return campaign + " is over, and not closed";
            }
            if (campaign.closedAt != null
                    && plan.isWell()
                    && redis.model(campaign.shard).has(key)) {
                return campaign + " is closed, and Redis has its counts";
            }
        }
        if (!tables.aside.isEmpty()) {
            return "the quarantine has " + tables.aside.keySet();
        }
        String draw = players.unsettled(redis, tables.shards);
        if (draw != null) {
            return draw;
        }
        for (PacketRow packet : tables.packets.values()) {
            PostgresTables.Shard shard = tables.shards.get(packet.shard);
            String key = shard.stamp() + ":p:" + packet.id;
            if (packet.closedAt == null) {
                if (!packet.expires.isAfter(tables.now())) {
                    return "packet " + packet.id + " is not refunded";
                }
                Object next = redis.model(shard.id).call(List.of("HGET", key, "#"));
                if (next == null && !packets.contains(packet.id)) {
                    continue; // its sender died before it knew of the commit: the first claim would load it
                }
                if (!String.valueOf(packet.claims.size()).equals(next)) {
                    return "packet " + packet.id + " of shard " + packet.shard + " has " + packet.claims.size()
                            + " claims, and in Redis " + next;
                }
                for (ClaimRow claim : packet.claims) {
                    if (!String.valueOf(claim.slot())
                            .equals(redis.model(shard.id).call(List.of("HGET", key, claim.user())))) {
                        return "Redis does not know " + claim + " of " + packet.id;
                    }
                }
            }
        }
        return null;
    }

    /** Nobody has more than a campaign's limits, over all its pools. */
    private void checkLimits() {
        for (CampaignRow campaign : tables.campaigns.values()) {
            for (PacketRow packet : tables.packets.values()) {
                for (ClaimRow claim : packet.campaign == campaign ? packet.claims : List.<ClaimRow>of()) {
                    long all = tables.claimsOf(campaign, claim.user()).count();
                    long next = nextDay(campaign, claim.user());
                    check(
                            wasMisled(packet.id)
                                    || !exceeds(all, campaign.total)
                                            && !exceeds(all, 2 * campaign.aDay)
                                            && !exceeds(all - next, campaign.aDay)
                                            && !exceeds(ofProduct(packet, claim.user()), campaign.aProduct),
                            () -> claim.user() + " has " + all + " shares of " + campaign + ", of one product "
                                    + ofProduct(packet, claim.user()));
                }
            }
        }
        for (Limited each : limited) {
            CampaignRow campaign = each.packet.campaign;
            check(campaign != null, () -> each.user + " was limited on " + each.packet.id + ", which is no pool");
            long all = tables.claimsOf(campaign, each.user).count() + 1;
            long thatDay = PostgresTables.isNextDay(each.asked) ? nextDay(campaign, each.user) + 1 : all;
            check(
                    losesDataAfter(each.asked, each.packet.id)
                            || tables.packets.values().stream()
                                    .anyMatch(other -> other.campaign == campaign && operator.hasDropped(other.id))
                            || exceeds(all, campaign.total)
                            || exceeds(thatDay, campaign.aDay)
                            || exceeds(ofProduct(each.packet, each.user) + 1, campaign.aProduct),
                    () -> each.user + " was limited on " + each.packet.id + ", but has only " + (all - 1)
                            + " shares of " + campaign);
        }
    }

    /** The claims after midnight: those that were accepted before it and settled after it, too. */
    private long nextDay(CampaignRow campaign, String user) {
        return tables.claimsOf(campaign, user)
                .filter(claim -> !claim.at().toInstant().isBefore(PostgresTables.MIDNIGHT))
                .count();
    }

    private static boolean exceeds(long claims, int limit) {
        return limit > 0 && claims > limit;
    }

    private long ofProduct(PacketRow packet, String user) {
        return tables.packets.values().stream()
                .filter(other -> other.campaign == packet.campaign && other.product.equals(packet.product))
                .filter(other -> other.of(user) != null)
                .count();
    }

    /** An accepted claim is settled with its slot and amount, if Redis lost nothing. */
    private void checkAccepted() {
        for (Claim claim : accepted) {
            PacketRow packet = tables.packets.get(claim.packet().value());
            ClaimRow row = packet == null ? null : packet.of(claim.user().value());
            check(
                    losesData(claim.packet().value())
                            || row != null && row.slot() == claim.slot() && row.amount() == claim.amount(),
                    () -> claim + " was accepted, and " + row + " is settled");
        }
    }

    /** A recovery that was overtaken leaves no keys, if it could ask Postgres and Redis. */
    private void checkKeys() {
        if (!plan.faults.stream().allMatch(each -> each.fault == Fault.SERVER_FREEZES)) {
            return;
        }
        for (PostgresTables.Shard shard : tables.shards) {
            String tag = shard.stamp().substring(0, shard.stamp().indexOf('}') + 2);
            check(
                    redis.model(shard.id).names().stream()
                            .allMatch(key ->
                                    !key.startsWith(tag) || key.indexOf('-') < 0 || key.startsWith(shard.stamp())),
                    () -> "keys are left: " + redis.model(shard.id).names());
        }
    }

    private void checkEnd() {
        checkKeys();
        checkLimits();
        checkAccepted();
        for (PacketRow packet : tables.packets.values()) {
            Set<String> users = new HashSet<>();
            for (int slot = 0; slot < packet.claims.size(); slot++) {
                ClaimRow claim = packet.claims.get(slot);
                check(
                        claim.slot() == slot && users.add(claim.user()),
                        () -> "slots of " + packet.id + ": " + packet.claims);
                check(claim.amount() == packet.amounts[slot], () -> "amount of " + claim);
            }
            check(
                    packet.closedAt == null ? packet.held() > 0 : packet.held() == 0,
                    () -> "the escrow of " + packet.id + " holds " + packet.held());
            check(
                    losesData(packet.id) || !"cancelled".equals(packet.ending) || packet.claims.isEmpty(),
                    () -> packet.id + " is cancelled, but has " + packet.claims);
            check(
                    !saidClaimed.containsKey(packet.id)
                            || losesDataAfter(saidClaimed.get(packet.id), packet.id)
                            || !packet.claims.isEmpty(),
                    () -> packet.id + " was not cancelled as claimed, but nobody has claimed it");
            check(
                    !saidDrained.containsKey(packet.id)
                            || losesDataAfter(saidDrained.get(packet.id), packet.id)
                            || packet.claims.size() == packet.amounts.length,
                    () -> "packet " + packet.id + " was refused as drained, with " + packet.claims.size() + " of "
                            + packet.amounts.length + " claims");
        }
    }
}
