package dev.hongbao.simulation;

import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.simulation.SimulatedPostgres.Advisory;
import dev.hongbao.simulation.SimulatedPostgres.LockMode;
import dev.hongbao.simulation.SimulatedPostgres.Plan;
import dev.hongbao.simulation.SimulatedPostgres.Session;
import io.vertx.core.json.JsonObject;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rows of shards, packets and claims, and the statements of the engine and of claims over them, each by the begin of its SQL;
 * {@link DrawTables} has those of draws. {@code PostgresTablesIT} compares them with a real Postgres. Not modelled: accounts (balances
 * follow from the claims), the events of feeds, the outbox.
 */
final class PostgresTables {
    /** A history begins an hour later, so that a midnight is in its midst. */
    static final Instant BEGIN = Instant.parse("2025-12-31T22:59:58.500Z");

    static final Instant MIDNIGHT = Instant.parse("2026-01-01T00:00:00Z");
    static final String ASSET = "CNY";

    /** Stands for the senders' statement: $1 the packet, $2 its shard, $3 the amounts, $4 the milliseconds until it expires. */
    static final String SEND = "send";

    static final String END_CAMPAIGN = "select end_campaign($1)";

    final List<Shard> shards;
    final Map<UUID, PacketRow> packets = new LinkedHashMap<>();
    final DrawTables draws = new DrawTables(this);

    /** By their shard, one each. */
    final Map<Integer, CampaignRow> campaigns = new LinkedHashMap<>();

    /** The quarantine, by unit. */
    final Map<UUID, AsideRow> aside = new LinkedHashMap<>();

    /** Packets and draws of which Postgres refuses every entry, for now. */
    final Set<UUID> poisoned = new HashSet<>();

    /** Their settlements take too long. */
    final Set<UUID> slow = new HashSet<>();

    /** The number of settlements that took too long. */
    int cancelled;

    private long lastKept;

    private final java.util.function.LongSupplier nanos;

    /** Gets each committed move of a cursor. */
    final Moves moves;

    interface Moves {
        default void moved(int shard, long epoch, long from, long to) {}

        /** Accepted claims or plays of a packet or a draw contradict settled ones, or it is not there. */
        default void voided(UUID unit) {}

        /** A recovery has drawn a generation. */
        default void drawn(int shard) {}

        /** A packet or draw is set aside. */
        default void setAside(UUID unit) {}
    }

    /** A unit that is set aside. */
    record AsideRow(
            UUID id,
            String kind,
            int shard,
            OffsetDateTime since,
            String sqlState,
            String reason,
            List<KeptRow> kept) {}

    /** An entry of a unit that is set aside. */
    record KeptRow(long n, String verb, String item, OffsetDateTime at) {
        /** The users of accepted claims. */
        private List<String> users() {
            return Arrays.stream(item.split(" "))
                    .skip(2)
                    .map(user -> user.replaceFirst("^[.]", ""))
                    .toList();
        }
    }

    static final class Shard {
        final int id;
        long epoch;
        String nonce = "";
        long lastSeq;
        String replid = "";
        long restored;

        Shard(int id) {
            this.id = id;
        }

        /** What the keys of its generation begin with in Redis. */
        String stamp() {
            return "{" + SimulatedServer.NAMESPACE + ":" + id + "}:" + epoch + "-" + nonce;
        }
    }

    /** A campaign with the limits of a user's claims over its pools; 0 for none. */
    static final class CampaignRow {
        final UUID id;
        final int shard;
        final int total;
        final int aDay;
        final int aProduct;

        /** Null until it is ended. */
        @Nullable
        Instant ends;

        @Nullable
        OffsetDateTime closedAt;

        private boolean poolsGoOn;

        CampaignRow(UUID id, int shard, int total, int aDay, int aProduct) {
            this.id = id;
            this.shard = shard;
            this.total = total;
            this.aDay = aDay;
            this.aProduct = aProduct;
        }

        private boolean isOver() {
            return ends != null && closedAt == null;
        }

        private Runnable save() {
            Instant endedBefore = ends;
            OffsetDateTime closedBefore = closedAt;
            boolean wentOn = poolsGoOn;
            return () -> {
                ends = endedBefore;
                closedAt = closedBefore;
                poolsGoOn = wentOn;
            };
        }

        @Override
        public String toString() {
            return "campaign " + id + " with " + total + " in all, " + aDay + " a day, " + aProduct + " a product";
        }
    }

    record ClaimRow(String user, int slot, long amount, OffsetDateTime at) {}

    static final class PacketRow {
        final UUID id;
        final int shard;
        final long[] amounts;
        final @Nullable CampaignRow campaign;
        final String product;
        final List<ClaimRow> claims = new ArrayList<>();
        Instant expires;

        @Nullable
        OffsetDateTime closedAt;

        @Nullable
        Long refund;

        @Nullable
        String ending;

        /** Whether its group's feed has it. */
        private boolean announced;

        /** The claims of which the feed tells. */
        private int told;

        private final OffsetDateTime created;

        PacketRow(
                UUID id,
                int shard,
                long[] amounts,
                Instant created,
                Instant expires,
                @Nullable CampaignRow campaign,
                String product) {
            this.campaign = campaign;
            this.product = product;
            this.id = id;
            this.shard = shard;
            this.amounts = amounts;
            this.created = created.atOffset(ZoneOffset.UTC);
            this.expires = expires;
        }

        long total() {
            return Arrays.stream(amounts).sum();
        }

        /** The escrow. */
        long held() {
            return total() - claims.stream().mapToLong(ClaimRow::amount).sum() - (refund == null ? 0 : refund);
        }

        /** Null if the feed has all of it, while it is open; else what is missing. */
        @Nullable
        String untold() {
            return closedAt != null || announced && told == claims.size()
                    ? null
                    : "the feed tells " + (announced ? told : "nothing") + " of " + id + " with " + claims.size()
                            + " claims";
        }

        @Nullable
        ClaimRow of(String user) {
            for (ClaimRow claim : claims) {
                if (claim.user.equals(user)) {
                    return claim;
                }
            }
            return null;
        }
    }

    PostgresTables(int shards, java.util.function.LongSupplier nanos, Moves moves) {
        this.shards = IntStream.range(0, shards).mapToObj(Shard::new).toList();
        this.nanos = nanos;
        this.moves = moves;
    }

    Instant now() {
        return BEGIN.plusNanos(nanos.getAsLong() / 1000 * 1000);
    }

    /** Whether every server has passed midnight at a moment of the world. */
    static boolean isNextDay(long nanos) {
        return BEGIN.plusNanos(nanos).minus(SimulatedServer.BEHIND).isAfter(MIDNIGHT);
    }

    private OffsetDateTime moment() {
        return now().atOffset(ZoneOffset.UTC);
    }

    static Map<String, Object> row(@Nullable Object... pairs) {
        Map<String, Object> row = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            row.put((String) pairs[i], pairs[i + 1]);
        }
        return row;
    }

    private static List<Map<String, Object>> one(@Nullable Object... pairs) {
        return List.of(row(pairs));
    }

    /** Adds a packet. In a shard with a campaign every other one is its pool, until it ends. */
    void add(UUID id, int shard, Long[] amounts, long livesMillis) {
        CampaignRow campaign = campaigns.get(shard);
        boolean isPool = campaign != null && campaign.ends == null && (id.hashCode() & 1) == 0;
        add(id, shard, amounts, livesMillis, isPool ? campaign : null, "product-" + (id.hashCode() & 2));
    }

    void add(UUID id, int shard, Long[] amounts, long livesMillis, @Nullable CampaignRow campaign, String product) {
        packets.put(
                id,
                new PacketRow(
                        id,
                        shard,
                        Arrays.stream(amounts).mapToLong(each -> each).toArray(),
                        now(),
                        now().plusMillis(livesMillis),
                        campaign,
                        product));
    }

    /** The plan of a statement. */
    Plan plan(String sql, Tuple of, @Nullable SimulatedPostgres postgres, @Nullable Session session) {
        String text = sql.strip();
        if (text.contains(", lateral set_aside(") || text.endsWith(", lateral undo(settled_at)")) {
            return extended(text, of);
        } else if (text.startsWith("select id, epoch, nonce, last_seq, replid, restored,")) {
            return readShards(text, of);
        } else if (text.startsWith("select draw_generation(")) {
            int id = of.getInteger(0);
            return new Plan(List.of(id), LockMode.EXCLUSIVE, Plan.Kind.WRITE, locked -> one("epoch", drawn(of)));
        } else if (text.startsWith("select settled_at, drained, void from settle_claims(")) {
            return settling(of, List.of(), moved -> settleClaims(of));
        } else if (text.startsWith("select settled_at, drained, void from settle_claims_but_void(")) {
            return settling(of, List.of(), moved -> settleClaimsButVoid(of));
        } else if (text.startsWith("select settled_at, closed, closed_shards, early from settle_closes(")) {
            return settling(of, List.of(), moved -> settleCloses(of));
        } else if (text.startsWith("select settled_at from (select move_cursors(")) {
            return moving(of, List.of(), moved -> one("settled_at", moment()));
        } else if (text.startsWith("select p.id, p.shard, p.group_id")) {
            return Plan.read(() -> terms(of));
        } else if (text.startsWith("select packet, user_id, slot, amount, asset, at from settled_claims(")) {
            return Plan.read(() -> claimsOf(of));
        } else if (text.startsWith("select amount, due, closed_at, refund, ending, held, claimed_count, seed")) {
            return Plan.read(() -> progress(of));
        } else if (text.startsWith("select c.packet, c.user_id, c.slot, c.amount, p.asset, c.at")) {
            return Plan.read(() -> claimsFrom(of));
        } else if (text.equals("select from packet where id = $1")) {
            return Plan.read(() -> packets.containsKey(of.getUUID(0)) ? one() : List.of());
        } else if (text.startsWith("select p.id, s.shard")) {
            return Plan.read(() -> due(of.getArrayOfShorts(0), of.getInteger(1)));
        } else if (text.startsWith("select (select true from unnest($1::smallint[]) as s(shard)")) {
            return Plan.read(() -> {
                Map<String, Object> work =
                        row("due", due(of.getArrayOfShorts(0), 1).isEmpty() ? null : true, "refunds", null);
                work.putAll(draws.work(of));
                work.put("campaigns_over", over(of).findAny().isPresent() ? true : null);
                work.putAll(draws.feedWork(of));
                return List.of(work);
            });
        } else if (text.startsWith("select c.id from campaign as c")) {
            return Plan.read(() -> open(campaigns.get(of.getInteger(0)))
                    .map(campaign -> row("id", campaign.id))
                    .toList());
        } else if (text.startsWith("with claims as (")) {
            return Plan.read(() -> open(campaigns.get(of.getInteger(0)))
                    .flatMap(campaign -> counts(campaign).stream())
                    .toList());
        } else if (text.startsWith("select id from campaign where id = any ($1) and closed_at is not null")) {
            Set<UUID> ids = Set.of(of.getArrayOfUUIDs(0));
            return Plan.read(() -> campaigns.values().stream()
                    .filter(campaign -> ids.contains(campaign.id) && campaign.closedAt != null)
                    .map(campaign -> row("id", campaign.id))
                    .toList());
        } else if (text.equals(END_CAMPAIGN)) {
            return changing(() -> endCampaign(of.getUUID(0)));
        } else if (text.startsWith("select campaign, shard from close_campaigns(")) {
            return changing(() -> closeCampaigns(of));
        } else if (text.startsWith("select pay_refunds(")) {
            return Plan.read(() -> one("paid", 0));
        } else if (text.startsWith("select p.id, c.claims, c.next_slot")) {
            return Plan.read(() -> openPackets(of.getInteger(0)));
        } else if (text.startsWith("select p.id as packet, c.slot, w.owner as user_id")) {
            return Plan.read(() -> openClaims(of.getInteger(0), Set.of(of.getArrayOfUUIDs(1))));
        } else if (text.startsWith("select id from packet where id = any ($1) and closed_at is not null")) {
            return Plan.read(() -> Arrays.stream(of.getArrayOfUUIDs(0))
                    .filter(id -> packets.containsKey(id) && packets.get(id).closedAt != null)
                    .map(id -> row("id", id))
                    .toList());
        } else if (text.startsWith("select from shard where id = $1 and epoch = $2 and nonce = $3")) {
            return Plan.read(() -> {
                Shard shard = shards.get(of.getInteger(0));
                return shard.epoch == of.getLong(1) && shard.nonce.equals(of.getString(2)) ? one() : List.of();
            });
        } else if (text.startsWith("select s.shard, p.id, p.group_id, p.group_id not like")) {
            return Plan.read(() -> openOfFeeds(of));
        } else if (text.startsWith("with waiting as materialized (")) {
            return Plan.read(() -> unannounced(of));
        } else if (text.startsWith("select p.id from packet as p join account as a on a.id = p.escrow")) {
            return Plan.read(() -> Arrays.stream(of.getArrayOfUUIDs(0))
                    .map(packets::get)
                    .filter(packet -> packet != null && !packet.claims.isEmpty())
                    .map(packet -> row("id", packet.id))
                    .toList());
        } else if (text.equals("select feed_announce($1)")) {
            return told(of, packet -> packet.announced = true);
        } else if (text.equals("select feed_progress($1)")) {
            return told(of, packet -> {
                if (packet.closedAt == null && packet.claims.size() > packet.told) {
                    packet.announced = true;
                    packet.told = packet.claims.size();
                }
            });
        } else if (text.equals(SEND)) {
            int id = of.getInteger(1);
            return new Plan(List.of(id), LockMode.KEY_SHARE, Plan.Kind.WRITE, locked -> {
                add(of.getUUID(0), id, of.getArrayOfLongs(2), of.getLong(3));
                return one("epoch", shards.get(id).epoch, "nonce", shards.get(id).nonce);
            });
        } else if (text.equals("select postgres_start()")) {
            return Plan.read(() -> one("postgres_start", "1@" + postgres.restarts()));
        } else if (text.equals("select 1")) {
            return Plan.read(() -> one("one", 1));
        }
        Plan other = quarantine(text, of);
        if (other == null) {
            other = draws.plan(text, of);
        }
        return other == null ? locks(text, of, postgres, session) : other;
    }

    /** A settlement that sets units aside in the same statement, or is undone at its end. */
    private Plan extended(String text, Tuple of) {
        int at = text.indexOf(", lateral ");
        String call = text.substring(0, at);
        Plan plan = call.startsWith("select from (select now() as settled_at)")
                ? new Plan(List.of(), LockMode.SHARE, Plan.Kind.WRITE, none -> one())
                : plan(call, of, null, null);
        int first = text.indexOf("set_aside(settled_at, $");
        return new Plan(plan.rows(), plan.mode(), plan.kind(), locked -> {
            Runnable undo = save();
            try {
                List<Map<String, Object>> rows = plan.effect().apply(locked);
                if (first > 0) {
                    int from = first + "set_aside(settled_at, $".length();
                    setAside(of, Integer.parseInt(text.substring(from, text.indexOf(',', from))) - 1);
                }
                if (text.endsWith("undo(settled_at)")) {
                    throw SimulatedPostgres.refused("HB004", "it can be settled");
                }
                return rows;
            } catch (PgException refused) {
                undo.run();
                throw refused;
            }
        });
    }

    /** @param at the place of the first of the parameters of {@code set_aside} */
    private void setAside(Tuple of, int at) {
        for (int i = 0; i < of.getArrayOfUUIDs(at).length; i++) {
            UUID id = of.getArrayOfUUIDs(at)[i];
            moves.setAside(id);
            aside.putIfAbsent(
                    id,
                    new AsideRow(
                            id,
                            of.getArrayOfStrings(at + 1)[i],
                            of.getArrayOfShorts(at + 2)[i],
                            moment(),
                            of.getArrayOfStrings(at + 3)[i],
                            of.getArrayOfStrings(at + 4)[i],
                            new ArrayList<>()));
        }
        for (int i = 0; i < of.getArrayOfUUIDs(at + 5).length; i++) {
            AsideRow unit = aside.get(of.getArrayOfUUIDs(at + 5)[i]);
            if (unit == null) {
                throw SimulatedPostgres.refused("HB003", "what is kept is not set aside");
            }
            unit.kept.add(new KeptRow(
                    ++lastKept, of.getArrayOfStrings(at + 6)[i], of.getArrayOfStrings(at + 7)[i], moment()));
        }
    }

    /** An operator's statements, and the quarantine that every server reads. */
    private @Nullable Plan quarantine(String text, Tuple of) {
        if (text.equals("select id from quarantine_unit")) {
            return Plan.read(
                    () -> aside.keySet().stream().map(id -> row("id", id)).toList());
        } else if (text.startsWith("select q.id, q.kind, q.shard, q.since, q.sqlstate, q.reason")) {
            return Plan.read(() -> aside.values().stream()
                    .map(unit -> {
                        Map<String, Object> row = row("id", unit.id, "kind", unit.kind, "shard", unit.shard);
                        row.putAll(row("since", unit.since, "sqlstate", unit.sqlState, "reason", unit.reason));
                        row.putAll(row("entries", (long) unit.kept.size(), "held", null));
                        return row;
                    })
                    .toList());
        } else if (text.startsWith("select shard from quarantine_unit where id = $1")) {
            return Plan.read(() -> Stream.ofNullable(aside.get(of.getUUID(0)))
                    .map(unit -> row("shard", unit.shard))
                    .toList());
        } else if (text.startsWith("select s.epoch, s.nonce from shard as s join quarantine_unit as q")) {
            AsideRow known = aside.get(of.getUUID(0));
            return known == null
                    ? Plan.read(List::of)
                    : new Plan(List.of(known.shard), LockMode.NO_KEY_UPDATE, Plan.Kind.READ, locked -> {
                        Shard shard = shards.get(known.shard);
                        return one("epoch", shard.epoch, "nonce", shard.nonce);
                    });
        } else if (text.startsWith("delete from quarantine where unit = $1 returning n, verb, item")) {
            return new Plan(List.of(), LockMode.SHARE, Plan.Kind.WRITE, none -> {
                AsideRow unit = aside.get(of.getUUID(0));
                List<KeptRow> kept = unit == null ? List.of() : List.copyOf(unit.kept);
                if (unit != null) {
                    unit.kept.clear();
                }
                return kept.stream()
                        .map(each -> row("n", each.n, "verb", each.verb, "item", each.item))
                        .toList();
            });
        } else if (text.startsWith("with back as (delete from quarantine_unit where id = $1 returning shard)")) {
            return new Plan(List.of(), LockMode.SHARE, Plan.Kind.WRITE, none -> {
                AsideRow unit = aside.remove(of.getUUID(0));
                if (unit == null) {
                    return List.of();
                }
                shards.get(unit.shard).replid = "-";
                return one();
            });
        }
        return null;
    }

    /** Notes all rows. @return sets them back */
    Runnable save() {
        List<Runnable> undo = new ArrayList<>(List.of(draws.save()));
        campaigns.values().forEach(campaign -> undo.add(campaign.save()));
        Map<UUID, AsideRow> before = new LinkedHashMap<>(aside);
        before.values().forEach(unit -> {
            List<KeptRow> kept = List.copyOf(unit.kept);
            undo.add(() -> {
                unit.kept.clear();
                unit.kept.addAll(kept);
            });
        });
        undo.add(() -> {
            aside.clear();
            aside.putAll(before);
        });
        shards.forEach(shard -> {
            long seq = shard.lastSeq;
            String replid = shard.replid;
            undo.add(() -> {
                shard.lastSeq = seq;
                shard.replid = replid;
            });
        });
        packets.values().forEach(packet -> {
            List<ClaimRow> claims = List.copyOf(packet.claims);
            OffsetDateTime closedAt = packet.closedAt;
            Long refund = packet.refund;
            String ending = packet.ending;
            boolean announced = packet.announced;
            int told = packet.told;
            Instant expires = packet.expires;
            undo.add(() -> {
                packet.expires = expires;
                packet.announced = announced;
                packet.told = told;
                packet.claims.clear();
                packet.claims.addAll(claims);
                packet.closedAt = closedAt;
                packet.refund = refund;
                packet.ending = ending;
            });
        });
        return () -> undo.forEach(Runnable::run);
    }

    /** Notes everything. @return goes back to it, as a restore of a backup does */
    Runnable backUp() {
        List<Runnable> undo = new ArrayList<>(List.of(save()));
        Map<UUID, PacketRow> sent = new LinkedHashMap<>(packets);
        Map<UUID, DrawTables.DrawRow> made = new LinkedHashMap<>(draws.draws);
        shards.forEach(shard -> {
            long epoch = shard.epoch;
            String nonce = shard.nonce;
            long restored = shard.restored;
            undo.add(() -> {
                shard.epoch = epoch;
                shard.nonce = nonce;
                shard.restored = restored;
            });
        });
        return () -> {
            packets.clear();
            packets.putAll(sent);
            draws.draws.clear();
            draws.draws.putAll(made);
            undo.forEach(Runnable::run);
        };
    }

    private Plan locks(String text, Tuple of, SimulatedPostgres postgres, Session session) {
        if (text.startsWith("listen ")) {
            return Plan.read(() -> {
                for (String word : text.split("; ")) {
                    if (word.startsWith("listen ")) {
                        session.listen(word.substring(7));
                    }
                }
                return List.of();
            });
        } else if (text.startsWith("select pg_notify($1, $2)")) {
            return Plan.read(() -> {
                postgres.notify(of.getString(0), of.getString(1), session);
                return one("pg_notify", "");
            });
        } else if (text.startsWith("select pg_advisory_lock_shared($1, 0)")) {
            return new Plan(
                    List.of(new Advisory(of.getInteger(0), 0)),
                    LockMode.SHARE,
                    Plan.Kind.LOCK,
                    taken -> one("lock", ""));
        } else if (text.startsWith("select pg_advisory_lock($1, 0)")) {
            return new Plan(
                    List.of(new Advisory(of.getInteger(0), 0)),
                    LockMode.EXCLUSIVE,
                    Plan.Kind.LOCK,
                    taken -> one("lock", ""));
        } else if (text.startsWith("select pg_advisory_unlock_shared($1, 0)")
                || text.startsWith("select pg_advisory_unlock($1, 0)")) {
            return Plan.read(() -> {
                postgres.unlockAdvisory(session, new Advisory(of.getInteger(0), 0));
                return one("unlocked", true);
            });
        } else if (text.startsWith("select pg_try_advisory_lock($1, 0)")) {
            return Plan.read(() -> one("locked", postgres.tryAdvisory(session, new Advisory(of.getInteger(0), 0))));
        } else if (text.startsWith("select id from unnest($1::integer[]) as id where pg_try_advisory_lock($2, id)")) {
            return Plan.read(() -> {
                List<Map<String, Object>> won = new ArrayList<>();
                for (Integer id : of.getArrayOfIntegers(0)) {
                    if (won.size() < of.getLong(2)
                            && postgres.tryAdvisory(session, new Advisory(of.getInteger(1), id))) {
                        won.add(row("id", id));
                    }
                }
                return won;
            });
        } else if (text.startsWith("select pg_notify($1, ''), pg_advisory_unlock($2, id)")) {
            return Plan.read(() -> {
                postgres.notify(of.getString(0), "", session);
                for (Integer id : of.getArrayOfIntegers(2)) {
                    postgres.unlockAdvisory(session, new Advisory(of.getInteger(1), id));
                }
                return List.of();
            });
        } else if (text.startsWith("select pid, classid::bigint, objid::bigint from pg_locks")) {
            return Plan.read(() -> {
                List<Map<String, Object>> held = new ArrayList<>();
                for (long each :
                        Set.of(of.getLong(0), of.getLong(1)).stream().sorted().toList()) {
                    postgres.advisory((int) each)
                            .forEach((number, holders) -> holders.forEach(holder ->
                                    held.add(row("pid", holder.pid, "classid", each, "objid", (long) number))));
                }
                return held;
            });
        } else if (text.startsWith("select pg_advisory_lock_shared($1, n)::text from unnest($2::integer[])")) {
            int kind = of.getInteger(0);
            return new Plan(
                    Arrays.stream(of.getArrayOfIntegers(1))
                            .map(number -> new Advisory(kind, number))
                            .toList(),
                    LockMode.SHARE,
                    Plan.Kind.LOCK,
                    taken -> {
                        for (Integer number : of.getArrayOfIntegers(2)) {
                            postgres.unlockAdvisory(session, new Advisory(kind, number));
                        }
                        return List.of();
                    });
        } else if (text.startsWith("select array_agg(objid::bigint) from pg_locks")) {
            return Plan.read(() -> {
                Map<Integer, List<Long>> numbers = new TreeMap<>();
                postgres.advisory(of.getLong(0).intValue())
                        .forEach((number, holders) -> holders.forEach(
                                holder -> numbers.computeIfAbsent(holder.pid, first -> new ArrayList<>())
                                        .add((long) number)));
                return numbers.values().stream()
                        .map(each -> row("array_agg", each.toArray(Long[]::new)))
                        .toList();
            });
        } else if (text.startsWith("with lock as (select l.pid, l.classid::bigint as class")
                && text.endsWith("order by s.id")) {
            Map<Integer, Set<Session>> holders = postgres.advisory(of.getLong(0).intValue());
            return Plan.read(() -> shards.stream()
                    .map(shard -> {
                        Integer pid = holders.getOrDefault(shard.id, Set.of()).stream()
                                .map(holder -> holder.pid)
                                .findFirst()
                                .orElse(null);
                        Map<String, Object> row = row("id", shard.id, "epoch", shard.epoch, "last_seq", shard.lastSeq);
                        long units = aside.values().stream()
                                .filter(unit -> unit.shard == shard.id)
                                .count();
                        row.putAll(row("pid", pid, "name", null, "aside", units));
                        return row;
                    })
                    .toList());
        } else if (text.startsWith("select exists (select from pg_locks")) {
            return Plan.read(() -> one(
                    "exists",
                    postgres.advisory(of.getLong(0).intValue()).values().stream()
                            .flatMap(Collection::stream)
                            .anyMatch(holder -> holder != session)));
        }
        throw new IllegalArgumentException("not modelled: " + text);
    }

    private Plan readShards(String text, Tuple of) {
        Function<Collection<?>, List<Map<String, Object>>> read = some -> some.stream()
                .map(id -> shards.get((Integer) id))
                .map(shard -> row(
                        "id",
                        shard.id,
                        "epoch",
                        shard.epoch,
                        "nonce",
                        shard.nonce,
                        "last_seq",
                        shard.lastSeq,
                        "replid",
                        shard.replid,
                        "restored",
                        shard.restored,
                        "aside",
                        aside.values().stream()
                                .filter(unit -> unit.shard == shard.id)
                                .map(AsideRow::id)
                                .toArray(UUID[]::new)))
                .toList();
        List<Integer> ids = text.contains("where id = any ($1)")
                ? Arrays.stream(of.getArrayOfShorts(0))
                        .map(Short::intValue)
                        .sorted()
                        .toList()
                : IntStream.range(0, shards.size()).boxed().toList();
        if (text.endsWith("order by id")) {
            return Plan.read(() -> read.apply(ids));
        }
        return new Plan(
                ids,
                LockMode.NO_KEY_UPDATE,
                text.endsWith("skip locked") ? Plan.Kind.READ_UNLOCKED_ROWS : Plan.Kind.READ,
                read);
    }

    private @Nullable Long drawn(Tuple of) {
        Shard shard = shards.get(of.getInteger(0));
        if (shard.epoch != of.getLong(1) || !shard.nonce.equals(of.getString(2))) {
            return null;
        }
        shard.epoch = Math.max(shard.epoch, of.getLong(3)) + 1;
        shard.nonce = of.getString(5);
        shard.lastSeq = 0;
        shard.replid = of.getString(6);
        if (of.getBoolean(4)) {
            shard.restored = shard.epoch;
        }
        moves.drawn(shard.id);
        return shard.epoch;
    }

    /**
     * A settlement of the units that are its first parameter after the moves.
     *
     * @param more rows that it locks after the shards
     */
    Plan settling(Tuple of, List<?> more, Function<Collection<?>, List<Map<String, Object>>> effect) {
        List<UUID> units = List.of(of.getArrayOfUUIDs(5));
        return moving(of, more, locked -> {
            if (units.stream().anyMatch(aside::containsKey)) {
                throw SimulatedPostgres.refused("HB003", "a packet or a draw is set aside");
            }
            if (units.stream().anyMatch(poisoned::contains)) {
                throw SimulatedPostgres.refused("23514", "an entry is refused");
            }
            if (units.stream().anyMatch(slow::contains)) {
                cancelled++;
                throw SimulatedPostgres.refused("57014", "statement timeout");
            }
            return effect.apply(locked);
        });
    }

    private Plan moving(Tuple of, List<?> more, Function<Collection<?>, List<Map<String, Object>>> effect) {
        List<Object> ids = new ArrayList<>(Arrays.stream(of.getArrayOfShorts(0))
                .map(Short::intValue)
                .sorted()
                .toList());
        ids.addAll(more);
        return new Plan(ids, LockMode.NO_KEY_UPDATE, Plan.Kind.WRITE, locked -> {
            checkCursors(of);
            List<Map<String, Object>> rows = effect.apply(locked);
            moveCursors(of);
            return rows;
        });
    }

    private void checkCursors(Tuple of) {
        for (int i = 0; i < of.getArrayOfShorts(0).length; i++) {
            Shard shard = shards.get(of.getArrayOfShorts(0)[i]);
            if (shard.epoch != of.getArrayOfLongs(1)[i]
                    || !shard.nonce.equals(of.getArrayOfStrings(2)[i])
                    || shard.lastSeq != of.getArrayOfLongs(3)[i]) {
                throw SimulatedPostgres.refused("HB001", "stale cursor");
            }
        }
    }

    private void moveCursors(Tuple of) {
        for (int i = 0; i < of.getArrayOfShorts(0).length; i++) {
            Shard shard = shards.get(of.getArrayOfShorts(0)[i]);
            moves.moved(shard.id, shard.epoch, shard.lastSeq, of.getArrayOfLongs(4)[i]);
            shard.lastSeq = of.getArrayOfLongs(4)[i];
        }
    }

    private List<Map<String, Object>> settleClaims(Tuple of) {
        UUID[] ids = of.getArrayOfUUIDs(5);
        for (UUID id : ids) {
            if (!packets.containsKey(id) || packets.get(id).closedAt != null) {
                throw SimulatedPostgres.refused("HB002", "a packet is unknown, not open yet or closed");
            }
        }
        Integer[] places = of.getArrayOfIntegers(6);
        Integer[] slots = of.getArrayOfIntegers(7);
        Map<UUID, List<ClaimRow>> fresh = new LinkedHashMap<>();
        List<Integer> inOrder = IntStream.range(0, places.length)
                .boxed()
                .sorted(Comparator.comparing(i -> slots[i]))
                .toList();
        for (int i : inOrder) {
            PacketRow packet = packets.get(ids[places[i] - 1]);
            List<ClaimRow> added = fresh.computeIfAbsent(packet.id, first -> new ArrayList<>());
            String user = of.getArrayOfStrings(8)[i];
            int slot = slots[i];
            int next = packet.claims.size() + added.size();
            if (slot < next || packet.of(user) != null || added.stream().anyMatch(each -> each.user.equals(user))) {
                throw SimulatedPostgres.refused("23505", "a slot or a user is taken");
            }
            if (slot > next) {
                throw SimulatedPostgres.refused("HB002", "a slot does not follow the settled ones");
            }
            added.add(new ClaimRow(user, slot, of.getArrayOfLongs(9)[i], moment()));
        }
        fresh.forEach((id, added) -> packets.get(id).claims.addAll(added));
        return one("settled_at", moment(), "drained", closeDrained(fresh.keySet()), "void", new Integer[0]);
    }

    private UUID[] closeDrained(Collection<UUID> some) {
        List<UUID> drained = new ArrayList<>();
        for (UUID id : some) {
            PacketRow packet = packets.get(id);
            if (packet != null && packet.closedAt == null && packet.claims.size() == packet.amounts.length) {
                packet.closedAt = moment();
                packet.announced = true;
                packet.refund = 0L;
                drained.add(id);
            }
        }
        return drained.toArray(UUID[]::new);
    }

    private List<Map<String, Object>> settleClaimsButVoid(Tuple of) {
        UUID[] ids = of.getArrayOfUUIDs(5);
        Integer[] places = of.getArrayOfIntegers(6);
        Set<Integer> voids = new TreeSet<>();
        Map<UUID, Map<Integer, Integer>> bySlot = new LinkedHashMap<>(); // per packet the first claim of each slot
        for (int i = 0; i < places.length; i++) {
            voids.add(i + 1);
            PacketRow packet = packets.get(ids[places[i] - 1]);
            int slot = of.getArrayOfIntegers(7)[i];
            if (packet != null
                    && packet.closedAt == null
                    && slot >= packet.claims.size()
                    && packet.of(of.getArrayOfStrings(8)[i]) == null) {
                bySlot.computeIfAbsent(packet.id, first -> new TreeMap<>()).putIfAbsent(slot, i);
            }
        }
        bySlot.forEach((id, slots) -> {
            PacketRow packet = packets.get(id);
            Map<String, Integer> ofUser = new HashMap<>(); // the first claim of each user
            slots.values().forEach(i -> ofUser.merge(of.getArrayOfStrings(8)[i], i, Math::min));
            slots.forEach((slot, i) -> {
                String user = of.getArrayOfStrings(8)[i];
                if (ofUser.get(user).equals(i) && slot == packet.claims.size()) {
                    packet.claims.add(new ClaimRow(user, slot, of.getArrayOfLongs(9)[i], moment()));
                    voids.remove(i + 1);
                }
            });
        });
        voids.forEach(place -> moves.voided(ids[places[place - 1] - 1]));
        return one(
                "settled_at", moment(), "drained", closeDrained(List.of(ids)), "void", voids.toArray(Integer[]::new));
    }

    private List<Map<String, Object>> settleCloses(Tuple of) {
        List<UUID> closed = new ArrayList<>();
        List<UUID> early = new ArrayList<>();
        List<Short> homes = new ArrayList<>();
        UUID[] ids = of.getArrayOfUUIDs(5);
        String[] endings = of.getArrayOfStrings(6);
        for (UUID id : new TreeSet<>(List.of(ids))) {
            PacketRow packet = packets.get(id);
            String ending = null;
            for (int i = ids.length - 1; i >= 0; i--) {
                ending = ids[i].equals(id) && endings[i] != null ? endings[i] : ending;
            }
            if (packet != null
                    && packet.closedAt == null
                    && (ending != null || !packet.expires.isAfter(now().plusSeconds(60)))) {
                packet.refund = packet.held();
                packet.announced = true;
                packet.closedAt = moment();
                packet.ending = ending;
                closed.add(id);
                homes.add((short) packet.shard);
            } else if (packet != null && packet.closedAt == null) {
                early.add(id);
            }
        }
        early.forEach(moves::voided);
        return one(
                "settled_at",
                moment(),
                "closed",
                closed.toArray(UUID[]::new),
                "closed_shards",
                homes.toArray(Short[]::new),
                "early",
                early.toArray(UUID[]::new));
    }

    private List<Map<String, Object>> terms(Tuple of) {
        List<Map<String, Object>> rows = new ArrayList<>();
        UUID[] ids = of.getArrayOfUUIDs(0);
        Integer[] blocks = of.getArrayOfIntegers(1);
        for (int i = 0; i < ids.length; i++) {
            PacketRow packet = packets.get(ids[i]);
            if (packet == null) {
                continue;
            }
            Map<String, Object> row =
                    row("id", packet.id, "shard", packet.shard, "group_id", "family", "sender", "host");
            row.putAll(row("kind", "lucky", "asset", ASSET, "amount", packet.total(), "count", packet.amounts.length));
            row.putAll(row(
                    "min",
                    1L,
                    "max",
                    packet.total(),
                    "split",
                    SplitAlgorithm.DOUBLE_MEAN.wireName(),
                    "split_version",
                    1));
            row.putAll(row(
                    "commitment", "0".repeat(64), "greeting", null, "metadata", new JsonObject(), "recipients", null));
            row.putAll(row("passcode", null, "created_at", packet.created, "opens_at", packet.created));
            row.putAll(row("expires_at", packet.expires.atOffset(ZoneOffset.UTC), "block", blocks[i]));
            row.putAll(pool(packet));
            row.put(
                    "amounts",
                    blocks[i] != null && blocks[i] == 0
                            ? Arrays.stream(packet.amounts).boxed().toArray(Long[]::new)
                            : null);
            rows.add(row);
        }
        return rows;
    }

    private static Map<String, Object> pool(PacketRow packet) {
        CampaignRow campaign = packet.campaign;
        if (campaign == null) {
            return row("campaign", null);
        }
        Map<String, Object> row = row("campaign", campaign.id, "campaign_name", "shoes", "product", packet.product);
        row.putAll(row("opener", "host", "zone", "UTC", "rain", null));
        JsonObject claiming = new JsonObject();
        claiming.put("total", campaign.total).put("aDay", campaign.aDay).put("aProduct", campaign.aProduct);
        row.put("claiming", claiming);
        return row;
    }

    /** A user's claims over the pools of a campaign, in the order of the settlements. */
    Stream<ClaimRow> claimsOf(CampaignRow campaign, String user) {
        return packets.values().stream()
                .filter(packet -> packet.campaign == campaign)
                .flatMap(packet -> packet.claims.stream())
                .filter(claim -> claim.user.equals(user));
    }

    /** A claim that is settled or kept. */
    private record Counted(String user, String product, long day) {}

    private List<Counted> counted(CampaignRow campaign) {
        List<Counted> counted = new ArrayList<>();
        for (PacketRow packet : packets.values()) {
            if (packet.campaign != campaign) {
                continue;
            }
            for (ClaimRow claim : packet.claims) {
                counted.add(new Counted(
                        claim.user, packet.product, claim.at.toLocalDate().toEpochDay()));
            }
            AsideRow unit = aside.get(packet.id);
            for (KeptRow kept : unit == null ? List.<KeptRow>of() : unit.kept) {
                if (kept.verb.equals("claim")) {
                    long day = kept.at.toLocalDate().toEpochDay();
                    kept.users().forEach(user -> counted.add(new Counted(user, packet.product, day)));
                }
            }
        }
        return counted;
    }

    /** As a recovery reads them: all, the latest day and its claims for each user; and all for each user and product. */
    private List<Map<String, Object>> counts(CampaignRow campaign) {
        List<Counted> counted = counted(campaign);
        Map<String, Integer> all = new TreeMap<>();
        Map<String, Long> last = new HashMap<>();
        Map<String, Integer> products = new TreeMap<>();
        counted.forEach(claim -> {
            all.merge(claim.user, 1, Integer::sum);
            last.merge(claim.user, claim.day, Math::max);
            products.merge(claim.user + " " + claim.product, 1, Integer::sum);
        });
        List<Map<String, Object>> rows = new ArrayList<>();
        all.forEach((user, count) -> {
            long thatDay = counted.stream()
                    .filter(claim -> claim.user.equals(user) && claim.day == last.get(user))
                    .count();
            rows.add(row("id", campaign.id, "user_id", user, "value", count + ":" + last.get(user) + ":" + thatDay));
        });
        if (campaign.aProduct > 0) {
            products.forEach(
                    (user, count) -> rows.add(row("id", campaign.id, "user_id", user, "value", String.valueOf(count))));
        }
        return rows;
    }

    private static Map<String, Object> claim(PacketRow packet, ClaimRow claim) {
        return row(
                "packet",
                packet.id,
                "user_id",
                claim.user,
                "slot",
                claim.slot,
                "amount",
                claim.amount,
                "asset",
                ASSET,
                "at",
                claim.at);
    }

    private List<Map<String, Object>> claimsOf(Tuple of) {
        List<Map<String, Object>> rows = new ArrayList<>();
        UUID[] ids = of.getArrayOfUUIDs(0);
        for (int i = 0; i < ids.length; i++) {
            PacketRow packet = packets.get(ids[i]);
            ClaimRow claim = packet == null ? null : packet.of(of.getArrayOfStrings(1)[i]);
            if (claim != null) {
                rows.add(claim(packet, claim));
            }
        }
        return rows;
    }

    private List<Map<String, Object>> progress(Tuple of) {
        PacketRow packet = packets.get(of.getUUID(0));
        if (packet == null) {
            return List.of();
        }
        Map<String, Object> row = row("amount", packet.total(), "due", !packet.expires.isAfter(now()));
        row.putAll(row("closed_at", packet.closedAt, "refund", packet.refund == null ? 0L : packet.refund));
        row.putAll(row("ending", packet.ending, "held", packet.held(), "claimed_count", packet.claims.size()));
        row.put("seed", packet.closedAt == null ? null : "0".repeat(64));
        return List.of(row);
    }

    private List<Map<String, Object>> claimsFrom(Tuple of) {
        PacketRow packet = packets.get(of.getUUID(0));
        return packet == null
                ? List.of()
                : packet.claims.stream()
                        .skip(of.getInteger(1))
                        .limit(of.getInteger(2))
                        .map(claim -> claim(packet, claim))
                        .toList();
    }

    private List<Map<String, Object>> due(Short[] shards, int limit) {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Short shard : shards) {
            packets.values().stream()
                    .filter(each -> each.shard == shard && each.closedAt == null && !each.expires.isAfter(now()))
                    .filter(each -> !aside.containsKey(each.id))
                    .limit(limit)
                    .forEach(each -> rows.add(row("id", each.id, "shard", (int) shard)));
        }
        return rows;
    }

    private List<PacketRow> open(int shard) {
        return packets.values().stream()
                .filter(each -> each.shard == shard && each.closedAt == null)
                .toList();
    }

    private Plan told(Tuple of, Consumer<PacketRow> change) {
        return changing(() -> {
            Arrays.stream(of.getArrayOfUUIDs(0))
                    .map(packets::get)
                    .filter(Objects::nonNull)
                    .forEach(change);
            return one("told", null);
        });
    }

    /** A change that locks no row of a shard. */
    private static Plan changing(Supplier<List<Map<String, Object>>> change) {
        return new Plan(List.of(), LockMode.KEY_SHARE, Plan.Kind.WRITE, locked -> change.get());
    }

    private static Stream<CampaignRow> open(@Nullable CampaignRow campaign) {
        return Stream.ofNullable(campaign).filter(each -> each.closedAt == null);
    }

    /** The campaigns of some shards that are ended and not closed. */
    private Stream<CampaignRow> over(Tuple of) {
        Set<Short> some = Set.of(of.getArrayOfShorts(0));
        return campaigns.values().stream()
                .filter(campaign -> campaign.isOver() && some.contains((short) campaign.shard));
    }

    private List<Map<String, Object>> endCampaign(UUID id) {
        campaigns.values().stream()
                .filter(campaign -> campaign.id.equals(id) && campaign.ends == null)
                .forEach(campaign -> {
                    campaign.ends = now();
                    campaign.poolsGoOn = true;
                });
        return one("end_campaign", null);
    }

    private List<Map<String, Object>> closeCampaigns(Tuple of) {
        List<Map<String, Object>> rows = new ArrayList<>();
        List<CampaignRow> over = over(of).toList();
        boolean ends = over.stream().anyMatch(campaign -> campaign.poolsGoOn);
        for (CampaignRow campaign : over) {
            List<PacketRow> pools = packets.values().stream()
                    .filter(packet -> packet.campaign == campaign && packet.closedAt == null)
                    .toList();
            if (campaign.poolsGoOn) {
                pools.stream()
                        .filter(packet -> packet.expires.isAfter(campaign.ends))
                        .forEach(packet -> packet.expires = campaign.ends);
                campaign.poolsGoOn = false;
            }
            if (pools.isEmpty() && !ends) {
                campaign.closedAt = moment();
                rows.add(row("campaign", campaign.id, "shard", (short) campaign.shard));
            }
        }
        return rows;
    }

    private List<Map<String, Object>> openOfFeeds(Tuple of) {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (int i = 0; i < of.getArrayOfShorts(0).length; i++) {
            int shard = of.getArrayOfShorts(0)[i];
            String place = of.getArrayOfUUIDs(1)[i].toString();
            open(shard).stream()
                    .filter(packet -> packet.id.toString().compareTo(place) > 0)
                    .sorted(Comparator.comparing(packet -> packet.id.toString()))
                    .limit(of.getInteger(2))
                    .forEach(packet -> rows.add(row(
                            "shard",
                            shard,
                            "id",
                            packet.id,
                            "group_id",
                            "family",
                            "behind",
                            packet.claims.size() > packet.told)));
        }
        return rows;
    }

    private List<Map<String, Object>> unannounced(Tuple of) {
        Set<Short> some = Set.of(of.getArrayOfShorts(0));
        OffsetDateTime before = moment().minus(Duration.ofMillis(of.getLong(1)));
        return packets.values().stream()
                .filter(packet -> !packet.announced && packet.closedAt == null && packet.created.isBefore(before))
                .filter(packet -> some.contains((short) packet.shard) && !aside.containsKey(packet.id))
                .limit(of.getInteger(2))
                .map(packet -> row("packet", packet.id, "shard", packet.shard))
                .toList();
    }

    private List<Map<String, Object>> openPackets(int shard) {
        return open(shard).stream()
                .map(each -> row(
                        "id",
                        each.id,
                        "claims",
                        (long) each.claims.size(),
                        "next_slot",
                        each.claims.size(),
                        "aside",
                        aside.containsKey(each.id)))
                .toList();
    }

    private List<Map<String, Object>> openClaims(int shard, Set<UUID> but) {
        List<Map<String, Object>> rows = new ArrayList<>();
        open(shard).stream()
                .filter(packet -> !aside.containsKey(packet.id) && !but.contains(packet.id))
                .forEach(packet -> packet.claims.forEach(
                        claim -> rows.add(row("packet", packet.id, "slot", claim.slot, "user_id", claim.user))));
        return rows;
    }
}
