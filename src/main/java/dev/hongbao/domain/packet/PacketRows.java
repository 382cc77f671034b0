package dev.hongbao.domain.packet;

import dev.hongbao.common.json.Metadata;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Members;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.fairness.Commitment;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.packet.PacketStore.Progress;
import dev.hongbao.domain.packet.PacketViews.Seen;
import dev.hongbao.domain.split.SplitAlgorithm;
import dev.hongbao.domain.split.SplitTerms;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Row;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of {@link PacketStore} and {@link PacketViews}. Pure. A row with an invalid value throws the exception of that value's
 * constructor.
 */
final class PacketRows {
    private PacketRows() {}

    static Progress progress(Row row) {
        return new Progress(
                status(row),
                row.getLong("refund"),
                row.getInteger("claimed_count"),
                row.getLong("claimed_amount"),
                row.getString("seed"));
    }

    private static PacketStatus status(Row row) {
        if (!row.getBoolean("closed")) {
            return row.getBoolean("due") ? PacketStatus.EXPIRED : PacketStatus.OPEN;
        }
        String ending = row.getString("ending");
        if (ending != null) {
            return Objects.requireNonNull(PacketStatus.ofEarly(ending));
        }
        return row.getLong("refund") > 0 ? PacketStatus.REFUNDED : PacketStatus.DRAINED;
    }

    static EndedPackets.End end(Row row, Progress progress) {
        boolean hasLuckiest = progress.status() == PacketStatus.DRAINED && row.getInteger("slot") != null;
        return new EndedPackets.End(
                progress.status(),
                progress.claimedCount(),
                progress.claimedAmount(),
                hasLuckiest ? claim(row, "id") : null);
    }

    static Claim claim(Row row) {
        return claim(row, "packet");
    }

    private static Claim claim(Row row, String packet) {
        return new Claim(
                new PacketId(row.getUUID(packet)),
                new UserId(row.getString("user_id")),
                new Claim.Share(row.getInteger("slot"), row.getLong("amount"), new Asset(row.getString("asset"))),
                Claim.Status.SETTLED,
                instant(row, "at"));
    }

    static PacketService.OwnClaim ownClaim(Row row) {
        UUID campaign = row.getUUID("campaign");
        PoolTerms.Label pool = campaign == null
                ? null
                : new PoolTerms.Label(
                        campaign,
                        row.getString("campaign_name"),
                        row.getString("product"),
                        new UserId(row.getString("opener")));
        return new PacketService.OwnClaim(
                row.getLong("id"), claim(row), new UserId(row.getString("sender")), row.getBoolean("luckiest"), pool);
    }

    static Seen seen(Row row, String viewer) {
        Packet packet = packet(row);
        return new Seen(
                packet,
                progress(row),
                claim(row, packet, "my", viewer),
                claim(row, packet, "luckiest", row.getString("luckiest_user")));
    }

    private static @Nullable Claim claim(Row row, Packet packet, String prefix, @Nullable String user) {
        Integer slot = row.getInteger(prefix + "_slot");
        return slot == null || user == null
                ? null
                : new Claim(
                        packet.id(),
                        new UserId(user),
                        new Claim.Share(slot, row.getLong(prefix + "_amount"), packet.asset()),
                        Claim.Status.SETTLED,
                        instant(row, prefix + "_at"));
    }

    static Packet packetWithBlock(Row row) {
        Packet packet = packet(row);
        Long[] amounts = row.getArrayOfLongs("amounts");
        if (amounts != null) {
            packet.amounts()
                    .put(
                            row.getInteger("block"),
                            Stream.of(amounts).mapToLong(Long::longValue).toArray());
        }
        return packet;
    }

    static Packet packet(Row row) {
        PacketId id = new PacketId(row.getUUID("id"));
        String[] recipients = row.getArrayOfStrings("recipients");
        Buffer passcode = row.getBuffer("passcode");
        return new Packet(
                id,
                row.getInteger("shard"),
                new UserId(row.getString("sender")),
                new Packet.Contents(
                        PacketKind.of(row.getString("kind")),
                        new Asset(row.getString("asset")),
                        new SplitTerms(
                                SplitAlgorithm.of(row.getString("split")),
                                row.getLong("amount"),
                                row.getInteger("count"),
                                row.getLong("min"),
                                row.getLong("max")),
                        row.getString("greeting"),
                        Metadata.ofJson(row.getJsonObject("metadata")),
                        new Commitment(row.getInteger("split_version"), row.getString("commitment"))),
                new Packet.Audience(
                        new GroupId(row.getString("group_id")),
                        recipients == null
                                ? Set.of()
                                : Stream.of(recipients).map(UserId::new).collect(Collectors.toSet()),
                        passcode == null ? null : Passcode.ofDigest(passcode.getBytes()),
                        pool(row)),
                new Packet.Times(instant(row, "created_at"), instant(row, "opens_at"), instant(row, "expires_at")));
    }

    private static @Nullable PoolTerms pool(Row row) {
        UUID campaign = row.getUUID("campaign");
        return campaign == null
                ? null
                : new PoolTerms(
                        campaign,
                        row.getInteger("shard"),
                        row.getString("campaign_name"),
                        row.getString("product"),
                        new UserId(row.getString("opener")),
                        claiming(row));
    }

    private static PoolTerms.Claiming claiming(Row row) {
        JsonObject rain = row.getJsonObject("rain");
        return ClaimingText.read(
                ZoneId.of(row.getString("zone")),
                row.getJsonObject("claiming"),
                rain == null ? Members.NONE : ClaimingText.members(rain));
    }

    private static Instant instant(Row row, String column) {
        return row.getOffsetDateTime(column).toInstant();
    }
}
