package dev.hongbao.domain.packet;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.fairness.Commitment;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.ledger.Idempotency;
import dev.hongbao.domain.ledger.Verdict;
import dev.hongbao.domain.split.Split;
import dev.hongbao.domain.split.SplitAlgorithm;
import dev.hongbao.domain.split.SplitTerms;
import dev.hongbao.engine.postgres.Transactions;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The statement that sends packets: {@code send_packets}, in its own transaction. Thread-safe. */
final class SendStatement {
    /** The parameters of {@code send_packets}, one array of all packets each. */
    private static final List<Column> COLUMNS = List.of(
            texts("senders", p -> p.sender().value()),
            texts("keys", p -> p.scope.key().value()),
            bytes("fingerprints", p -> Buffer.buffer(p.scope.fingerprint())),
            uuids("ids", p -> p.id.value()),
            shorts("shards", p -> p.shard),
            texts("groups", p -> p.command.group().value()),
            texts("kinds", p -> p.command.kind().wireName()),
            texts("assets", p -> p.command.asset().code()),
            longs("totals", p -> p.command.amount()),
            integers("counts", p -> p.command.count()),
            texts("splits", p -> p.shares.terms.algorithm().wireName()),
            shorts("split_versions", p -> p.shares.commitment.splitVersion()),
            longs("mins", p -> p.shares.terms.min()),
            longs("maxs", p -> p.shares.terms.max()),
            bytes("seeds", p -> Buffer.buffer(p.shares.seed)),
            bytes("commitments", SendStatement::commitment),
            integers("luckiests", p -> Split.luckiest(p.shares.amounts)),
            texts("greetings", p -> p.command.greeting()),
            texts(
                    "metadatas",
                    p -> p.command.metadata().isEmpty()
                            ? null
                            : p.command.metadata().json()),
            texts("recipients", p -> recipients(p.command)),
            bytes("passcodes", SendStatement::passcode),
            new Column(
                    "openings",
                    (tuple, packets) -> tuple.addArrayOfOffsetDateTime(
                            column(packets, OffsetDateTime[]::new, p -> opening(p.command)))),
            longs("lifetimes", p -> p.expiresIn.toMillis()),
            uuids("campaigns", ofPool(PoolTerms::campaign)),
            texts("products", ofPool(PoolTerms::product)),
            texts("actors", p -> p.scope.user().value()),
            texts("askers", p -> p.scope.origin().actor().value()),
            texts("roles", p -> p.scope.origin().by().wireName()),
            texts("refs", p -> p.scope.origin().note().reference()),
            texts("reasons", p -> p.scope.origin().note().reason()));

    private static final String SEND = "select verdict, packet, epoch, nonce, created_at, opens_at, expires_at from"
            + " send_packets(block_places => $1, blocks => $2, block_amounts => $3"
            + IntStream.range(0, COLUMNS.size())
                    .mapToObj(i -> ", " + COLUMNS.get(i).name + " => $" + (i + 4))
                    .collect(Collectors.joining())
            + ")";

    /** Whether a send is sure to be refused: an unused key and a wallet with too little. */
    private static final String POOR = "select not exists (select from idempotency where user_id = $1 and operation ="
            + " 'send' and key = $2) and coalesce((select balance from account where owner = $5 and kind = 'wallet' and"
            + " asset = $3), 0) < $4";

    private static final String MISSING = "select greatest(0, $3 - coalesce("
            + "(select balance from account where owner = $1 and kind = 'wallet' and asset = $2), 0))";

    private final Pool pool;
    private final Shards shards;

    SendStatement(Pool pool, Shards shards) {
        this.pool = pool;
        this.shards = shards;
    }

    /**
     * A packet to send.
     *
     * @param scope the caller and the key
     */
    record NewPacket(
            Idempotency.Scope scope,
            PacketId id,
            int shard,
            SendCommand command,
            SplitResult shares,
            Duration expiresIn) {

        /** The unit that only one packet of a statement may have: a plain sender's wallet, or one user's allowance in a campaign. */
        Object unit() {
            return command.pool() == null ? sender() : List.of(sender(), scope.user());
        }

        /** The payer: the sender, or the campaign of a pool. */
        UserId sender() {
            PoolTerms pool = command.pool();
            return pool == null
                    ? payer(scope, command)
                    : new UserId(pool.campaign().toString());
        }
    }

    /**
     * A split.
     *
     * @param amounts of all slots, minor units; their sum is the command's amount
     */
    record SplitResult(SplitTerms terms, byte[] seed, long[] amounts, Commitment commitment) {
        /**
         * Splits a packet's amount; a hundred thousand shares take some 10 ms.
         *
         * @param max in place of the command's
         */
        static SplitResult of(
                PacketId id, SendCommand command, SplitAlgorithm algorithm, @Nullable Long max, byte[] seed) {
            SplitTerms terms = SplitTerms.of(algorithm, command.amount(), command.count(), command.min(), max);
            return new SplitResult(
                    terms, seed, Split.amounts(terms, seed), Commitment.of(id.value(), command.asset(), terms, seed));
        }
    }

    /**
     * The result of a send.
     *
     * @param id of the key's packet; null when refused
     * @param fresh the packet with all its amounts loaded; null unless DONE
     * @param generation for loading the packet; null unless DONE
     */
    record Sent(
            Verdict verdict,
            @Nullable PacketId id,
            @Nullable Packet fresh,
            @Nullable Generation generation) {}

    private static UserId payer(Idempotency.Scope scope, SendCommand command) {
        return Objects.requireNonNullElse(command.onBehalfOf(), scope.user());
    }

    /** Whether a split would be wasted. */
    Future<Boolean> isPoor(Idempotency.Scope scope, SendCommand command) {
        return pool.preparedQuery(POOR)
                .execute(Tuple.of(
                        scope.user().value(),
                        scope.key().value(),
                        command.asset().code(),
                        command.amount(),
                        payer(scope, command).value()))
                .map(rows -> rows.iterator().next().getBoolean(0));
    }

    /** As {@link Idempotency#before}. */
    Future<@Nullable UUID> before(Idempotency.Scope scope) {
        return Idempotency.before(pool, scope);
    }

    /** The amount that a wallet lacks, minor units; 0 if it now holds enough. */
    Future<Long> missing(UserId user, Asset asset, long amount) {
        return pool.preparedQuery(MISSING)
                .execute(Tuple.of(user.value(), asset.code(), amount))
                .map(rows -> rows.iterator().next().getLong(0));
    }

    /**
     * Sends packets, each of a different {@link NewPacket#unit}. Each is judged separately, and idempotent by its scope. If the statement
     * fails, none is sent.
     *
     * @return the results, in order
     */
    Future<List<Sent>> execute(List<NewPacket> packets) {
        Tuple parameters = parameters(packets);
        return Transactions.statement(() -> pool.preparedQuery(SEND).execute(parameters))
                .map(rows -> {
                    List<Sent> sent = new ArrayList<>(packets.size());
                    rows.forEach(row -> sent.add(sent(packets.get(sent.size()), row)));
                    return sent;
                });
    }

    /** Sends packets of different keys within a transaction. Fails with the first refusal. */
    static Future<Void> within(SqlConnection tx, List<NewPacket> packets) {
        return tx.preparedQuery(SEND).execute(parameters(packets)).compose(rows -> {
            for (Row row : rows) {
                Verdict verdict = Verdict.of(row.getString("verdict"));
                if (verdict != Verdict.DONE) {
                    return Future.failedFuture(verdict.refusal());
                }
            }
            return Future.succeededFuture();
        });
    }

    private Sent sent(NewPacket packet, Row row) {
        Verdict verdict = packet.scope.verdict(row.getString("verdict"));
        UUID id = row.getUUID("packet");
        if (verdict != Verdict.DONE) {
            return new Sent(verdict, id == null ? null : new PacketId(id), null, null);
        }
        var generation = new Generation(shards.namespace(), packet.shard, row.getLong("epoch"), row.getString("nonce"));
        return new Sent(verdict, packet.id, fresh(packet, row), generation);
    }

    private static Tuple parameters(List<NewPacket> packets) {
        List<Integer> places = new ArrayList<>();
        List<Integer> numbers = new ArrayList<>();
        List<String> amounts = new ArrayList<>();
        for (int place = 1; place <= packets.size(); place++) {
            long[] all = packets.get(place - 1).shares.amounts;
            for (int block = 0; block * SlotAmounts.BLOCK < all.length; block++) {
                places.add(place);
                numbers.add(block);
                amounts.add(Arrays.stream(block(all, block))
                        .mapToObj(Long::toString)
                        .collect(Collectors.joining(",", "{", "}")));
            }
        }
        Tuple tuple = Tuple.tuple()
                .addArrayOfInteger(places.toArray(Integer[]::new))
                .addArrayOfInteger(numbers.toArray(Integer[]::new))
                .addArrayOfString(amounts.toArray(String[]::new));
        COLUMNS.forEach(column -> column.add.accept(tuple, packets));
        return tuple;
    }

    /**
     * A parameter of {@code send_packets}.
     *
     * @param add adds its array to the statement's values
     */
    private record Column(String name, BiConsumer<Tuple, List<NewPacket>> add) {}

    private static <T> Function<NewPacket, @Nullable T> ofPool(Function<PoolTerms, T> value) {
        return packet -> {
            PoolTerms pool = packet.command.pool();
            return pool == null ? null : value.apply(pool);
        };
    }

    private static Column texts(String name, Function<NewPacket, @Nullable String> value) {
        return new Column(name, (tuple, packets) -> tuple.addArrayOfString(column(packets, String[]::new, value)));
    }

    private static Column bytes(String name, Function<NewPacket, @Nullable Buffer> value) {
        return new Column(name, (tuple, packets) -> tuple.addArrayOfBuffer(column(packets, Buffer[]::new, value)));
    }

    private static Column uuids(String name, Function<NewPacket, @Nullable UUID> value) {
        return new Column(name, (tuple, packets) -> tuple.addArrayOfUUID(column(packets, UUID[]::new, value)));
    }

    private static Column shorts(String name, ToIntFunction<NewPacket> value) {
        return new Column(
                name,
                (tuple, packets) -> tuple.addArrayOfShort(
                        column(packets, Short[]::new, packet -> (short) value.applyAsInt(packet))));
    }

    private static Column integers(String name, ToIntFunction<NewPacket> value) {
        return new Column(
                name, (tuple, packets) -> tuple.addArrayOfInteger(column(packets, Integer[]::new, value::applyAsInt)));
    }

    private static Column longs(String name, ToLongFunction<NewPacket> value) {
        return new Column(
                name, (tuple, packets) -> tuple.addArrayOfLong(column(packets, Long[]::new, value::applyAsLong)));
    }

    private static <T> T[] column(
            List<NewPacket> packets, IntFunction<T[]> array, Function<NewPacket, @Nullable T> value) {
        return packets.stream().map(value).toArray(array);
    }

    private static long[] block(long[] amounts, int block) {
        return Arrays.copyOfRange(
                amounts, block * SlotAmounts.BLOCK, Math.min(amounts.length, (block + 1) * SlotAmounts.BLOCK));
    }

    private static @Nullable String recipients(SendCommand command) {
        return command.recipients().isEmpty()
                ? null
                : command.recipients().stream().map(UserId::value).distinct().collect(Collectors.joining(" "));
    }

    private static @Nullable Buffer passcode(NewPacket packet) {
        String typed = packet.command.passcode();
        return typed == null
                ? null
                : Buffer.buffer(Passcode.of(packet.id, typed).digest());
    }

    private static Buffer commitment(NewPacket packet) {
        return Buffer.buffer(HexFormat.of().parseHex(packet.shares.commitment.digest()));
    }

    private static @Nullable OffsetDateTime opening(SendCommand command) {
        return command.opensAt() == null ? null : command.opensAt().atOffset(ZoneOffset.UTC);
    }

    private static Packet fresh(NewPacket sent, Row row) {
        SendCommand command = sent.command;
        String passcode = command.passcode();
        Packet packet = new Packet(
                sent.id,
                sent.shard,
                sent.sender(),
                new Packet.Contents(
                        command.kind(),
                        command.asset(),
                        sent.shares.terms,
                        command.greeting(),
                        command.metadata(),
                        sent.shares.commitment),
                new Packet.Audience(
                        command.group(),
                        Set.copyOf(command.recipients()),
                        passcode == null ? null : Passcode.of(sent.id, passcode),
                        command.pool()),
                new Packet.Times(
                        Objects.requireNonNull(row.getOffsetDateTime("created_at"))
                                .toInstant(),
                        Objects.requireNonNull(row.getOffsetDateTime("opens_at"))
                                .toInstant(),
                        Objects.requireNonNull(row.getOffsetDateTime("expires_at"))
                                .toInstant()));
        for (int block = 0; !packet.amounts().has(block); block++) {
            packet.amounts().put(block, block(sent.shares.amounts, block));
        }
        return packet;
    }
}
