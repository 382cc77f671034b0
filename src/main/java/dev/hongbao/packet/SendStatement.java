package dev.hongbao.packet;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Shards;
import dev.hongbao.ledger.Idempotency;
import dev.hongbao.ledger.Ledger.Verdict;
import dev.hongbao.packet.Packet.Commitment;
import dev.hongbao.packet.split.Split;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.values.Asset;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
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
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The statement that sends packets: {@code send_packets}, in its own transaction. Thread-safe. */
final class SendStatement {
    /** Parameters are arrays of all packets, except the amounts: one row for each packet and block. */
    private static final String SEND = """
        select verdict, packet, epoch, nonce, created_at, opens_at, expires_at
        from send_packets(
            block_places => $1, blocks => $2, block_amounts => $3, senders => $4, keys => $5, fingerprints => $6, ids => $7,
            shards => $8, groups => $9, kinds => $10, assets => $11, totals => $12, counts => $13, splits => $14,
            split_versions => $15, mins => $16, maxs => $17, seeds => $18, commitments => $19, luckiests => $20,
            greetings => $21, metadatas => $22, recipients => $23, passcodes => $24, openings => $25, lifetimes => $26,
            campaigns => $27, products => $28, actors => $29, askers => $30, roles => $31, refs => $32, reasons => $33)
        """;

    /** Whether a send is sure to be refused: an unused key and a wallet with too little. */
    private static final String POOR = """
        select not exists (select from idempotency where user_id = $1 and operation = 'send' and key = $2)
           and coalesce((select balance from account where owner = $5 and kind = 'wallet' and asset = $3), 0) < $4
        """;

    private static final String MISSING = """
        select greatest(0, $3 - coalesce((select balance from account where owner = $1 and kind = 'wallet' and asset = $2), 0))
        """;

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

        private @Nullable Passcode passcode() {
            String typed = command.passcode();
            return typed == null ? null : Passcode.of(id, typed);
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
            for (int block = 0; block * Packet.Amounts.BLOCK < all.length; block++) {
                places.add(place);
                numbers.add(block);
                amounts.add(Arrays.stream(block(all, block))
                        .mapToObj(Long::toString)
                        .collect(Collectors.joining(",", "{", "}")));
            }
        }
        return Tuple.tuple()
                .addArrayOfInteger(places.toArray(Integer[]::new))
                .addArrayOfInteger(numbers.toArray(Integer[]::new))
                .addArrayOfString(amounts.toArray(String[]::new))
                .addArrayOfString(Rows.texts(packets, p -> p.sender().value()))
                .addArrayOfString(Rows.texts(packets, p -> p.scope.key().value()))
                .addArrayOfBuffer(bytes(packets, p -> p.scope.fingerprint()))
                .addArrayOfUUID(Rows.column(packets, UUID[]::new, p -> p.id.value()))
                .addArrayOfShort(Rows.column(packets, Short[]::new, p -> (short) p.shard))
                .addArrayOfString(Rows.texts(packets, p -> p.command.group().value()))
                .addArrayOfString(Rows.texts(packets, p -> p.command.kind().wireName()))
                .addArrayOfString(Rows.texts(packets, p -> p.command.asset().code()))
                .addArrayOfLong(longs(packets, p -> p.command.amount()))
                .addArrayOfInteger(Rows.column(packets, Integer[]::new, p -> p.command.count()))
                .addArrayOfString(
                        Rows.texts(packets, p -> p.shares.terms.algorithm().wireName()))
                .addArrayOfShort(Rows.column(packets, Short[]::new, p -> (short) p.shares.commitment.splitVersion()))
                .addArrayOfLong(longs(packets, p -> p.shares.terms.min()))
                .addArrayOfLong(longs(packets, p -> p.shares.terms.max()))
                .addArrayOfBuffer(bytes(packets, p -> p.shares.seed))
                .addArrayOfBuffer(bytes(packets, p -> HexFormat.of().parseHex(p.shares.commitment.digest())))
                .addArrayOfInteger(Rows.column(packets, Integer[]::new, p -> Split.luckiest(p.shares.amounts)))
                .addArrayOfString(Rows.texts(packets, p -> p.command.greeting()))
                .addArrayOfString(Rows.texts(packets, p -> metadata(p.command)))
                .addArrayOfString(Rows.texts(packets, p -> recipients(p.command)))
                .addArrayOfBuffer(bytes(packets, p -> {
                    Passcode passcode = p.passcode();
                    return passcode == null ? null : passcode.digest();
                }))
                .addArrayOfOffsetDateTime(Rows.column(packets, OffsetDateTime[]::new, p -> opening(p.command)))
                .addArrayOfLong(longs(packets, p -> p.expiresIn.toMillis()))
                .addArrayOfUUID(Rows.column(
                        packets,
                        UUID[]::new,
                        p -> p.command.pool() == null ? null : p.command.pool().campaign()))
                .addArrayOfString(Rows.texts(
                        packets,
                        p -> p.command.pool() == null ? null : p.command.pool().product()))
                .addArrayOfString(Rows.texts(packets, p -> p.scope.user().value()))
                .addArrayOfString(
                        Rows.texts(packets, p -> p.scope.origin().actor().value()))
                .addArrayOfString(Rows.texts(packets, p -> p.scope.origin().by().wireName()))
                .addArrayOfString(
                        Rows.texts(packets, p -> p.scope.origin().note().reference()))
                .addArrayOfString(
                        Rows.texts(packets, p -> p.scope.origin().note().reason()));
    }

    private static Long[] longs(List<NewPacket> packets, Function<NewPacket, Long> value) {
        return Rows.column(packets, Long[]::new, value);
    }

    private static Buffer[] bytes(List<NewPacket> packets, Function<NewPacket, byte @Nullable []> value) {
        return Rows.column(packets, Buffer[]::new, packet -> {
            byte[] bytes = value.apply(packet);
            return bytes == null ? null : Buffer.buffer(bytes);
        });
    }

    private static long[] block(long[] amounts, int block) {
        return Arrays.copyOfRange(
                amounts, block * Packet.Amounts.BLOCK, Math.min(amounts.length, (block + 1) * Packet.Amounts.BLOCK));
    }

    private static @Nullable String recipients(SendCommand command) {
        return command.recipients().isEmpty()
                ? null
                : command.recipients().stream().map(UserId::value).distinct().collect(Collectors.joining(" "));
    }

    private static @Nullable String metadata(SendCommand command) {
        return command.metadata().isEmpty() ? null : command.metadata().json();
    }

    private static @Nullable OffsetDateTime opening(SendCommand command) {
        return command.opensAt() == null ? null : command.opensAt().atOffset(ZoneOffset.UTC);
    }

    private static Packet fresh(NewPacket sent, Row row) {
        SendCommand command = sent.command;
        Packet packet = Packet.of(sent.id, sent.shard, command.group(), sent.sender())
                .shares(command.kind(), command.asset(), sent.shares.terms, sent.shares.commitment)
                .text(command.greeting(), command.metadata())
                .claimers(Set.copyOf(command.recipients()), sent.passcode(), command.pool())
                .times(Rows.instant(row, "created_at"), Rows.instant(row, "opens_at"), Rows.instant(row, "expires_at"))
                .build();
        for (int block = 0; !packet.amounts().has(block); block++) {
            packet.amounts().put(block, block(sent.shares.amounts, block));
        }
        return packet;
    }
}
