package dev.hongbao.packet;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.ledger.Idempotency;
import dev.hongbao.ledger.Origin;
import dev.hongbao.packet.SendStatement.NewPacket;
import dev.hongbao.packet.SendStatement.SplitResult;
import dev.hongbao.packet.split.Split;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.RefusedException;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Pools of one new campaign, sent in the campaign's own transaction: all or none. Uses the statement of every other send. Immutable. */
public final class PoolBatch {
    /** Pools in one call of the load script. */
    private static final int PAGE = 250;

    private final List<NewPacket> packets;

    private PoolBatch(List<NewPacket> packets) {
        this.packets = packets;
    }

    /**
     * Splits all amounts: a hundred thousand shares take some 10 ms.
     *
     * @param pools of a host, each with pool terms, split and expiry; already checked to be feasible
     */
    public static PoolBatch of(List<SendCommand> pools, SecureRandom random) {
        List<NewPacket> packets = new ArrayList<>(pools.size());
        for (SendCommand command : pools) {
            PoolTerms pool = Objects.requireNonNull(command.pool());
            PacketId id = PacketId.create();
            byte[] seed = new byte[Split.SEED_BYTES];
            random.nextBytes(seed);
            // The id is the only key: idempotence belongs to the command that makes the campaign.
            var scope = new Idempotency.Scope(
                    pool.opener(),
                    "send",
                    new IdempotencyKey(id.toString()),
                    pool.wish(command.group()),
                    Origin.service(pool.opener()));
            SplitResult shares =
                    SplitResult.of(id, command, Objects.requireNonNull(command.split()), command.max(), seed);
            packets.add(new NewPacket(
                    scope, id, pool.shard(), command, shares, Objects.requireNonNull(command.expiresIn())));
        }
        return new PoolBatch(packets);
    }

    /** Sends the pools. The campaign exists and pays. On a {@link RefusedException} the transaction fails, too. */
    public Future<Void> send(SqlConnection tx) {
        return SendStatement.within(tx, packets);
    }

    /** Makes the committed pools claimable, as {@link KeyLoader#load} does. */
    public Future<Void> load(KeyLoader loading, Generation generation) {
        List<Future<Boolean>> loads = new ArrayList<>();
        for (int from = 0; from < packets.size(); from += PAGE) {
            List<PacketId> page = packets.subList(from, Math.min(packets.size(), from + PAGE)).stream()
                    .map(NewPacket::id)
                    .toList();
            loads.add(loading.load(generation, PacketKeys.hash(generation, page.get(0)), new PacketKeys.Load(page)));
        }
        return Future.all(loads).mapEmpty();
    }
}
