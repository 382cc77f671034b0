package dev.hongbao.packet;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Shards;
import dev.hongbao.ledger.Assets;
import dev.hongbao.ledger.Idempotency;
import dev.hongbao.ledger.Ledger;
import dev.hongbao.ledger.Ledger.Verdict;
import dev.hongbao.ledger.Origin;
import dev.hongbao.packet.SendStatement.NewPacket;
import dev.hongbao.packet.SendStatement.Sent;
import dev.hongbao.packet.split.Split;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.store.postgres.GatheredCommands;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends packets. {@link #send} checks the rules and splits the amount on the caller's thread; any thread may call it. One statement then
 * writes all waiting packets with amounts, escrows and transfers: the more packets, the less each costs. One script call a shard makes them
 * claimable. One instance a server, on its own event loop.
 */
final class PacketSender extends VerticleBase {
    /**
     * With more shares than this, the wallet is checked before the split, and the split leaves the event loop. A hundred thousand shares take
     * some 10 ms, 50 ms in the worst case.
     */
    private static final int LARGE = Packet.Amounts.BLOCK;

    /**
     * A packet with more shares gets its own statement, since it would delay the other sends. WeChat allows no more.
     */
    private static final int MAX_GATHERED = 100;

    /** Waiting sends of a server: about half a second of work. */
    private static final int MAX_WAITING = 2_000;

    private final SendStatement statement;
    private final GatheredCommands<NewPacket, Future<Packet>> gathered;
    private final Shards shards;
    private final PacketCatalog catalog;
    private final Assets assets;
    private final Supplier<Future<RedisLinks>> redis;
    private final Duration loadWait;
    private final PacketService.Limits limits;
    private final Clock clock;
    private final SecureRandom random = new SecureRandom();
    private @Nullable RedisLinks links;
    private @Nullable KeyLoader loading;

    /**
     * @param redis opens connections on the current event loop
     * @param loadWait how long a sent packet waits for a recovery under way, see {@link KeyLoader}
     * @param clock only for refusing a late opening; Postgres' clock decides what is due
     */
    public PacketSender(
            Pool pool,
            Shards shards,
            PacketCatalog catalog,
            Assets assets,
            Supplier<Future<RedisLinks>> redis,
            Duration loadWait,
            PacketService.Limits limits,
            Clock clock) {
        this.statement = new SendStatement(pool, shards);
        this.gathered = new GatheredCommands<>(Text.of("noun.sends"), MAX_WAITING, NewPacket::unit, this::execute);
        this.shards = shards;
        this.catalog = catalog;
        this.assets = assets;
        this.redis = redis;
        this.loadWait = loadWait;
        this.limits = limits;
        this.clock = clock;
    }

    @Override
    public Future<?> start() {
        return redis.get().map(opened -> {
            links = opened;
            loading = new KeyLoader(Loop.of(vertx), opened, shards, loadWait);
            return opened;
        });
    }

    @Override
    public Future<?> stop() {
        return links == null ? Future.succeededFuture() : links.close();
    }

    PacketService.Limits limits() {
        return limits;
    }

    /** See {@link PacketService#send}. */
    Future<Packet> send(Caller caller, SendCommand command, IdempotencyKey key) {
        var scope =
                new Idempotency.Scope(caller.user(), "send", key, command.wish(), Origin.of(caller, command.note()));
        SplitAlgorithm algorithm;
        try {
            algorithm = check(caller, command);
        } catch (RefusedException refused) {
            return unlessSent(scope, refused);
        }
        Future<Packet> sent = assets.require(command.asset())
                .compose(known -> maySend(caller, command)
                        ? affordable(scope, command)
                                .compose(affordable -> split(scope, command, algorithm))
                                .compose(packet -> command.count() <= MAX_GATHERED
                                        ? gathered.submit(packet)
                                        : execute(List.of(packet)).map(answers -> answers.get(0)))
                                .compose(answer -> answer)
                        : unlessSent(scope, notSent(command)))
                .recover(fault -> explained(Ledger.refusal(fault), command));
        // The result arrives on the loop with the Redis connections. The caller gets it on its own context.
        Context asking = Vertx.currentContext();
        return asking == null ? sent : Future.fromCompletionStage(sent.toCompletionStage(), asking);
    }

    /** The time from opening to expiry. */
    private Duration expiresIn(SendCommand command) {
        return Objects.requireNonNullElse(command.expiresIn(), limits.defaultExpiry());
    }

    /** Whether the caller may send this asset. The asset exists. */
    private boolean maySend(Caller caller, SendCommand command) {
        Assets.Terms terms = assets.cached(command.asset());
        return command.pool() != null
                || caller.role() == Role.SERVICE
                || (terms != null && terms.senders() == Assets.Terms.Senders.EVERYBODY);
    }

    private static RefusedException notSent(SendCommand command) {
        return new RefusedException(
                Refusal.NOT_ELIGIBLE, Reason.ROLE, Text.of("send.only-backend-sends", command.asset()));
    }

    /**
     * Checks what needs no store, and throws the first refusal.
     *
     * @return the split of the amount
     */
    private SplitAlgorithm check(Caller caller, SendCommand command) {
        boolean onBehalf = command.onBehalfOf() != null;
        if (onBehalf ? caller.role() != Role.SERVICE : !caller.isMemberOf(command.group())) {
            throw new RefusedException(
                    Refusal.NOT_ELIGIBLE, onBehalf ? Reason.ROLE : Reason.GROUP, Text.of("send.other-group"));
        }
        if (!command.note().isEmpty() && caller.role() != Role.SERVICE) {
            throw new RefusedException(Refusal.NOT_ELIGIBLE, Reason.ROLE, Text.of("send.only-backend-notes"));
        }
        require(!command.group().isChannel(), Reason.GROUP, Text.of("send.rain-channel"));
        require(command.count() <= limits.maxCount(), Reason.COUNT, Text.of("send.too-many-shares", limits.maxCount()));
        SplitAlgorithm fallback =
                command.kind() == Packet.Kind.EQUAL ? SplitAlgorithm.EQUAL : SplitAlgorithm.DOUBLE_MEAN;
        SplitAlgorithm algorithm = Objects.requireNonNullElse(command.split(), fallback);
        require(
                command.kind() != Packet.Kind.EQUAL || algorithm == SplitAlgorithm.EQUAL,
                Reason.SPLIT,
                Text.of("send.equal-split"));
        require(
                command.kind() != Packet.Kind.LUCKY || algorithm != SplitAlgorithm.EQUAL,
                Reason.SPLIT,
                Text.of("send.lucky-split"));
        boolean exclusive = command.kind() == Packet.Kind.EXCLUSIVE;
        require(
                exclusive == !command.recipients().isEmpty(),
                Reason.RECIPIENTS,
                exclusive ? Text.of("send.no-recipients") : Text.of("send.recipients"));
        require(
                !exclusive
                        || command.count()
                                <= command.recipients().stream().distinct().count(),
                Reason.RECIPIENTS,
                Text.of("send.too-few-recipients"));
        require(
                command.passcode() == null || Passcode.isSeen(command.passcode()),
                Reason.PASSCODE,
                Text.of("send.passcode-unseen"));
        Duration expiresIn = expiresIn(command);
        require(
                expiresIn.compareTo(limits.maxExpiry()) <= 0 && !expiresIn.isNegative() && !expiresIn.isZero(),
                Reason.EXPIRY,
                Text.of("send.expires-late", limits.maxExpiry().toSeconds()));
        Instant opensAt = command.opensAt();
        require(
                opensAt == null || opensAt.isBefore(clock.instant().plus(limits.maxExpiry())),
                Reason.OPENING,
                Text.of("send.opens-late", limits.maxExpiry().toSeconds()));
        Text reason = SplitTerms.infeasible(algorithm, command.amount(), command.count(), command.min(), command.max());
        if (reason != null) {
            throw new RefusedException(Refusal.INFEASIBLE, Reason.AMOUNT, reason);
        }
        return algorithm;
    }

    private static void require(boolean kept, Reason reason, Text rule) {
        if (!kept) {
            throw new RefusedException(Refusal.INFEASIBLE, reason, rule);
        }
    }

    /** Refuses, unless the packet was sent before. A repeated send gets the first answer. */
    private Future<Packet> unlessSent(Idempotency.Scope scope, RefusedException refused) {
        return statement
                .before(scope)
                .compose(id -> id == null ? Future.failedFuture(refused) : sentBefore(new PacketId(id)));
    }

    /** Adds the missing amount to the refusal, for a host's backend only. */
    private Future<Packet> explained(Throwable fault, SendCommand command) {
        UserId sender = command.onBehalfOf();
        if (sender == null
                || !(fault instanceof RefusedException refused)
                || refused.refusal() != Refusal.INSUFFICIENT_FUNDS) {
            return Future.failedFuture(fault);
        }
        return statement
                .missing(sender, command.asset(), command.amount())
                .compose(missing ->
                        Refusal.INSUFFICIENT_FUNDS.failure(Text.of("wallet.lacks", sender, missing, command.asset())));
    }

    /**
     * Writes the packets. Each inner future completes when its packet is claimable, or fails with its refusal. Runs on the loop with the
     * Redis connections.
     */
    private Future<List<Future<Packet>>> execute(List<NewPacket> packets) {
        Promise<List<Future<Packet>>> sent = Promise.promise();
        context.runOnContext(here -> executeHere(packets).onComplete(sent));
        return sent.future();
    }

    private Future<List<Future<Packet>>> executeHere(List<NewPacket> packets) {
        return statement.execute(packets).map(all -> {
            Map<Generation, List<PacketId>> fresh = new HashMap<>();
            for (Sent sent : all) {
                if (sent.generation() != null) {
                    fresh.computeIfAbsent(sent.generation(), first -> new ArrayList<>())
                            .add(Objects.requireNonNull(sent.id()));
                }
            }
            Map<Generation, Future<Void>> loads = new HashMap<>();
            fresh.forEach((generation, ids) -> loads.put(generation, load(ids, generation)));
            return all.stream().map(sent -> answer(sent, loads)).toList();
        });
    }

    private Future<Packet> answer(Sent sent, Map<Generation, Future<Void>> loads) {
        if (sent.verdict().isRefusal()) {
            return Future.failedFuture(sent.verdict().refusal());
        }
        Packet fresh = sent.fresh();
        return fresh == null
                ? sentBefore(Objects.requireNonNull(sent.id()))
                : Objects.requireNonNull(loads.get(sent.generation())).map(catalog.put(fresh));
    }

    /** A packet known to be in Postgres. A missing one has unreadable terms. */
    private Future<Packet> sentBefore(PacketId id) {
        return catalog.find(id)
                .compose(packet -> packet == null
                        ? Future.failedFuture(UnavailableException.setAside())
                        : Future.succeededFuture(packet));
    }

    /** Refuses early, before an expensive split. */
    private Future<Void> affordable(Idempotency.Scope scope, SendCommand command) {
        return command.count() <= LARGE
                ? Future.succeededFuture()
                : statement
                        .isPoor(scope, command)
                        .compose(poor -> poor ? Future.failedFuture(Verdict.POOR.refusal()) : Future.succeededFuture());
    }

    private Future<NewPacket> split(Idempotency.Scope scope, SendCommand command, SplitAlgorithm algorithm) {
        return command.count() <= LARGE
                ? Future.succeededFuture(splitNow(scope, command, algorithm))
                : vertx.executeBlocking(() -> splitNow(scope, command, algorithm), false);
    }

    private NewPacket splitNow(Idempotency.Scope scope, SendCommand command, SplitAlgorithm algorithm) {
        PacketId id = PacketId.create();
        byte[] seed = new byte[Split.SEED_BYTES];
        random.nextBytes(seed);
        int shard = command.pool() == null
                ? shards.shardFor(id.value())
                : command.pool().shard();
        return new NewPacket(
                scope,
                id,
                shard,
                command,
                SendStatement.SplitResult.of(id, command, algorithm, largest(command, algorithm), seed),
                expiresIn(command));
    }

    /** The sender's largest share; without one the asset's cap, if the amount can be split within it. Postgres enforces the cap. */
    private @Nullable Long largest(SendCommand command, SplitAlgorithm algorithm) {
        Assets.Terms terms = assets.cached(command.asset());
        Long cap = command.max() != null || terms == null
                ? command.max()
                : terms.caps().share();
        boolean splits =
                SplitTerms.infeasible(algorithm, command.amount(), command.count(), command.min(), cap) == null;
        return splits ? cap : command.max();
    }

    /** The script loads all or none, so one key stands for all. */
    private Future<Void> load(List<PacketId> packets, Generation generation) {
        String key = PacketKeys.hash(generation, packets.get(0));
        return Objects.requireNonNull(loading)
                .load(generation, key, PacketKeys.load(packets))
                .map(loaded -> {
                    if (loaded) {
                        vertx.eventBus().publish(Packets.Loaded.ADDRESS, new Packets.Loaded(packets));
                    }
                    return null;
                });
    }
}
