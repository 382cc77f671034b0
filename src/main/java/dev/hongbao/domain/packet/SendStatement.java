package dev.hongbao.domain.packet;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.ledger.Idempotency;
import dev.hongbao.domain.ledger.Verdict;
import dev.hongbao.domain.split.Split;
import dev.hongbao.domain.split.SplitAlgorithm;
import dev.hongbao.engine.postgres.Transactions;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The one statement that sends a packet: {@code send_packets}, a transaction by itself. Safe on any thread. */
final class SendStatement {
    private static final String SEND = "select verdict, packet, epoch, nonce, created_at, opens_at, expires_at from"
            + " send_packets($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)";

    /** Whether a send is sure to be refused: its key is unused, and the wallet holds too little. */
    private static final String POOR = "select not exists (select from idempotency"
            + " where user_id = $1 and operation = 'send' and key = $2)"
            + " and coalesce((select balance from account where owner = $1 and kind = 'wallet' and asset = $3), 0) < $4";

    private final Pool pool;
    private final Shards shards;

    SendStatement(Pool pool, Shards shards) {
        this.pool = pool;
        this.shards = shards;
    }

    /**
     * A packet that is about to be sent.
     *
     * @param scope its sender, and under which key
     */
    record NewPacket(
            Idempotency.Scope scope, PacketId id, int shard, SendCommand command, Shares shares, Duration expiresIn) {

        UserId sender() {
            return scope.user();
        }
    }

    /** How it is split. @param amounts of all slots, minor units; their sum is the command's amount */
    record Shares(SplitAlgorithm algorithm, byte[] seed, long[] amounts) {}

    /**
     * What became of it.
     *
     * @param id of the packet that the key stands for
     * @param fresh the packet, with all its amounts at hand; null when it was sent before
     * @param generation into which it is to be loaded; null when it was sent before
     */
    record Sent(
            PacketId id, @Nullable Packet fresh, @Nullable Generation generation) {}

    /** Looks whether a split would be for nothing. */
    Future<Boolean> isPoor(Idempotency.Scope scope, Asset asset, long amount) {
        return pool.preparedQuery(POOR)
                .execute(Tuple.of(scope.user().value(), scope.key().value(), asset.code(), amount))
                .map(rows -> rows.iterator().next().getBoolean(0));
    }

    /** Sends; refused as the verdict says. Idempotent by the scope. */
    Future<Sent> execute(NewPacket packet) {
        Tuple parameters = parameters(packet);
        return Transactions.statement(() -> pool.preparedQuery(SEND).execute(parameters))
                .compose(rows -> {
                    Row row = rows.iterator().next();
                    Verdict verdict = Verdict.of(row.getString("verdict"));
                    if (verdict.isRefusal()) {
                        return Future.failedFuture(verdict.refusal());
                    }
                    PacketId id = new PacketId(row.getUUID("packet"));
                    return Future.succeededFuture(
                            verdict == Verdict.REPLAYED
                                    ? new Sent(id, null, null)
                                    : new Sent(
                                            id,
                                            fresh(packet, row),
                                            new Generation(
                                                    shards.namespace(),
                                                    packet.shard,
                                                    row.getLong("epoch"),
                                                    row.getString("nonce"))));
                });
    }

    private static Tuple parameters(NewPacket packet) {
        SendCommand command = packet.command;
        int blocks = (packet.shares.amounts.length + SlotAmounts.BLOCK - 1) / SlotAmounts.BLOCK;
        Integer[] places = new Integer[blocks];
        Integer[] numbers = new Integer[blocks];
        String[] amounts = new String[blocks];
        for (int block = 0; block < blocks; block++) {
            places[block] = 1;
            numbers[block] = block;
            amounts[block] = Arrays.stream(block(packet.shares.amounts, block))
                    .mapToObj(Long::toString)
                    .collect(Collectors.joining(",", "{", "}"));
        }
        return Tuple.tuple()
                .addArrayOfString(one(packet.sender().value()))
                .addArrayOfString(one(packet.scope.key().value()))
                .addArrayOfBuffer(one(Buffer.buffer(packet.scope.fingerprint())))
                .addArrayOfUUID(one(packet.id.value()))
                .addArrayOfShort(one((short) packet.shard))
                .addArrayOfString(one(command.group().value()))
                .addArrayOfString(one(command.kind().wireName()))
                .addArrayOfString(one(command.asset().code()))
                .addArrayOfLong(one(command.amount()))
                .addArrayOfInteger(one(command.count()))
                .addArrayOfString(one(packet.shares.algorithm.wireName()))
                .addArrayOfBuffer(one(Buffer.buffer(packet.shares.seed)))
                .addArrayOfInteger(one(Split.luckiest(packet.shares.amounts)))
                .addArrayOfString(one(command.greeting()))
                .addArrayOfString(one(recipients(command)))
                .addArrayOfBuffer(one(passcode(packet)))
                .addArrayOfOffsetDateTime(one(opening(command)))
                .addArrayOfLong(one(packet.expiresIn.toMillis()))
                .addArrayOfInteger(places)
                .addArrayOfInteger(numbers)
                .addArrayOfString(amounts);
    }

    /** A column of one row. */
    @SafeVarargs
    private static <T> T[] one(@Nullable T... value) {
        return value;
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
                        command.kind(), command.asset(), command.amount(), command.count(), command.greeting()),
                new Packet.Audience(
                        command.group(),
                        Set.copyOf(command.recipients()),
                        passcode == null ? null : Passcode.of(sent.id, passcode)),
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
