package dev.hongbao.packet;

import dev.hongbao.command.Caller;
import dev.hongbao.command.IdempotencyKey;
import dev.hongbao.command.Refusal;
import dev.hongbao.command.RefusedException;
import dev.hongbao.command.UserId;
import dev.hongbao.journal.Generation;
import dev.hongbao.journal.KeyLoading;
import dev.hongbao.journal.Shards;
import dev.hongbao.ledger.AccountKind;
import dev.hongbao.ledger.Idempotency;
import dev.hongbao.ledger.Ledger;
import dev.hongbao.ledger.TransferKind;
import dev.hongbao.split.Split;
import dev.hongbao.split.SplitAlgorithm;
import dev.hongbao.split.SplitTerms;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.EventBus;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sending: rules, split, and one transaction for the packet, its amounts, its escrow and the transfer into it. One instance
 * per event loop.
 */
final class PacketSending {
    private static final String INSERT = """
            insert into packet (id, shard, group_id, sender, kind, asset, amount, count, split, seed, amounts, greeting,
                                recipients, passcode, escrow, opens_at, expires_at)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
                    greatest($16::timestamptz, now()),
                    greatest($16::timestamptz, now()) + $17::bigint * interval '1 millisecond')
            """;

    private final Pool pool;
    private final Shards shards;
    private final PacketCatalog catalog;
    private final KeyLoading loading;
    private final EventBus bus;
    private final PacketService.Limits limits;
    private final Clock clock;
    private final Idempotency idempotency;
    private final SecureRandom random = new SecureRandom();

    PacketSending(
            Pool pool,
            Shards shards,
            PacketCatalog catalog,
            KeyLoading loading,
            EventBus bus,
            PacketService.Limits limits,
            Clock clock) {
        this.pool = pool;
        this.shards = shards;
        this.catalog = catalog;
        this.loading = loading;
        this.bus = bus;
        this.limits = limits;
        this.clock = clock;
        this.idempotency = new Idempotency(pool);
    }

    Future<Packet> send(Caller caller, SendCommand command, IdempotencyKey key) {
        SplitAlgorithm algorithm;
        try {
            algorithm = check(caller, command);
        } catch (RefusedException refused) {
            return Future.failedFuture(refused);
        }
        PacketId id = PacketId.create();
        Generation[] read = new Generation[1];
        var scope = new Idempotency.Scope(caller.user(), "send", key, command.toString());
        return idempotency
                .once(
                        scope,
                        tx -> insert(tx, id, caller.user(), command, algorithm).map(generation -> {
                            read[0] = generation;
                            return id.toString();
                        }))
                .compose(sent -> catalog.find(Objects.requireNonNull(PacketId.parse(sent))))
                .compose(packet -> {
                    Packet found = Objects.requireNonNull(packet);
                    return read[0] == null || !found.id().equals(id)
                            ? Future.succeededFuture(found)
                            : load(found.id(), read[0]).map(found);
                });
    }

    private Future<Void> load(PacketId packet, Generation generation) {
        String key = generation.packetKey(packet.toString());
        return loading.load(
                        generation,
                        key,
                        shard -> Request.cmd(Command.EVALSHA)
                                .arg(shard.script("load").sha())
                                .arg(2)
                                .arg(generation.journalKey())
                                .arg(key))
                .map(loaded -> {
                    if (loaded) {
                        bus.publish(PacketLoaded.ADDRESS, new PacketLoaded(packet));
                    }
                    return null;
                });
    }

    /** The rules on a wish; the first that is broken refuses it. */
    private SplitAlgorithm check(Caller caller, SendCommand command) {
        if (!caller.isMemberOf(command.group())) {
            throw new RefusedException(
                    Refusal.NOT_ELIGIBLE, "You can send only into the groups that your token names.");
        }
        require(command.count() <= limits.maxCount(), "A packet has at most " + limits.maxCount() + " shares.");
        SplitAlgorithm fallback =
                command.kind() == PacketKind.EQUAL ? SplitAlgorithm.EQUAL : SplitAlgorithm.DOUBLE_MEAN;
        SplitAlgorithm algorithm = Objects.requireNonNullElse(command.split(), fallback);
        require(
                command.kind() != PacketKind.EQUAL || algorithm == SplitAlgorithm.EQUAL,
                "An equal packet is split `equal`; leave `split` out or choose kind `lucky`.");
        require(
                command.kind() != PacketKind.LUCKY || algorithm != SplitAlgorithm.EQUAL,
                "A lucky packet is split at random; choose kind `equal` for equal shares.");
        boolean exclusive = command.kind() == PacketKind.EXCLUSIVE;
        require(
                exclusive == !command.recipients().isEmpty(),
                exclusive ? "An exclusive packet names its recipients." : "Only an exclusive packet names recipients.");
        require(
                !exclusive
                        || command.count()
                                <= command.recipients().stream().distinct().count(),
                "An exclusive packet has at most as many shares as recipients.");
        Duration expiresIn = Objects.requireNonNullElse(command.expiresIn(), limits.defaultExpiry());
        require(
                expiresIn.compareTo(limits.maxExpiry()) <= 0 && !expiresIn.isNegative() && !expiresIn.isZero(),
                "A packet expires within " + limits.maxExpiry().toSeconds() + " seconds.");
        Instant opensAt = command.opensAt();
        require(
                opensAt == null || opensAt.isBefore(clock.instant().plus(limits.maxExpiry())),
                "A packet opens within " + limits.maxExpiry().toSeconds() + " seconds from now.");
        String reason =
                SplitTerms.infeasible(algorithm, command.amount(), command.count(), command.min(), command.max());
        if (reason != null) {
            throw new RefusedException(Refusal.INFEASIBLE, reason);
        }
        return algorithm;
    }

    private static void require(boolean kept, String rule) {
        if (!kept) {
            throw new RefusedException(Refusal.INFEASIBLE, rule);
        }
    }

    /** Returns the generation that the transaction saw, and that stays the shard's until it ends. */
    private Future<Generation> insert(
            SqlConnection tx, PacketId id, UserId sender, SendCommand command, SplitAlgorithm algorithm) {
        int shard = shards.shardFor(id.value());
        byte[] seed = new byte[Split.SEED_BYTES];
        random.nextBytes(seed);
        long[] amounts = Split.amounts(
                SplitTerms.of(algorithm, command.amount(), command.count(), command.min(), command.max()), seed);
        Duration expiresIn = Objects.requireNonNullElse(command.expiresIn(), limits.defaultExpiry());
        Instant opensAt = command.opensAt();
        String passcode = command.passcode();
        return tx.preparedQuery("select epoch, nonce from shard where id = $1 for key share")
                .execute(Tuple.of((short) shard))
                .map(rows -> rows.iterator().next())
                .map(row -> new Generation(shards.namespace(), shard, row.getLong("epoch"), row.getString("nonce")))
                .compose(generation -> Ledger.account(tx, AccountKind.ESCROW, id.toString(), command.asset())
                        .compose(escrow -> Ledger.wallet(tx, sender, command.asset())
                                .compose(wallet -> tx.preparedQuery(INSERT)
                                        .execute(Tuple.tuple()
                                                .addUUID(id.value())
                                                .addShort((short) shard)
                                                .addString(command.group().value())
                                                .addString(sender.value())
                                                .addString(command.kind().wireName())
                                                .addString(command.asset().code())
                                                .addLong(command.amount())
                                                .addInteger(command.count())
                                                .addString(algorithm.wireName())
                                                .addBuffer(Buffer.buffer(seed))
                                                .addArrayOfLong(Arrays.stream(amounts)
                                                        .boxed()
                                                        .toArray(Long[]::new))
                                                .addString(command.greeting())
                                                .addArrayOfString(recipients(command))
                                                .addBuffer(passcode == null ? null : passcodeOf(id, passcode))
                                                .addLong(escrow)
                                                .addOffsetDateTime(
                                                        opensAt == null ? null : opensAt.atOffset(ZoneOffset.UTC))
                                                .addLong(expiresIn.toMillis()))
                                        .compose(inserted -> Ledger.transfer(
                                                tx, TransferKind.SEND, wallet, escrow, command.amount(), id.value()))))
                        .map(generation));
    }

    private static String @Nullable [] recipients(SendCommand command) {
        return command.recipients().isEmpty()
                ? null
                : command.recipients().stream().map(UserId::value).distinct().toArray(String[]::new);
    }

    private static Buffer passcodeOf(PacketId id, String typed) {
        return Buffer.buffer(Passcode.of(id, typed).digest());
    }
}
