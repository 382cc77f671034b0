package dev.hongbao.domain.packet;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.Asset;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The host's filter for its list of packets. A null field lets all pass.
 *
 * @param sender the payer: a user, or for pools their campaign's id
 * @param reference the host's own reference of the send
 * @param from earliest creation, inclusive
 * @param to exclusive
 */
public record PacketFilter(
        @Nullable GroupId group,
        @Nullable UserId sender,
        @Nullable PacketStatus status,
        @Nullable PacketKind kind,
        @Nullable Asset asset,
        @Nullable String reference,
        @Nullable Instant from,
        @Nullable Instant to) {
    /**
     * The largest difference assumed between a server's clock, which makes the ids, and Postgres' clock, which sets the creation time. A
     * list by time reads this much more at both ends.
     */
    private static final long CLOCKS_APART_MILLIS = 60_000;

    /**
     * Selects the ids of packets older than {@code before}, newest first. It walks down the index of the group, the sender, the status, the
     * reference or the id. A filter by DRAINED, kind or asset alone skips through all other packets.
     *
     * @param parameters the list so far; this query's are added
     */
    String ids(PacketId before, int limit, List<Object> parameters) {
        List<String> rules = new ArrayList<>();
        rules.add("f.id < " + next(parameters, before.value()));
        if (to != null) {
            rules.add("f.id < " + next(parameters, idOf(to.toEpochMilli() + CLOCKS_APART_MILLIS)));
            rules.add("f.created_at < " + next(parameters, to.atOffset(ZoneOffset.UTC)));
        }
        if (from != null) {
            rules.add("f.id > " + next(parameters, idOf(from.toEpochMilli() - CLOCKS_APART_MILLIS)));
            rules.add("f.created_at >= " + next(parameters, from.atOffset(ZoneOffset.UTC)));
        }
        if (group != null) {
            rules.add("f.group_id = " + next(parameters, group.value()));
        }
        if (sender != null) {
            rules.add("f.sender = " + next(parameters, sender.value()));
        }
        if (kind != null) {
            rules.add("f.kind = " + next(parameters, kind.wireName()));
        }
        if (asset != null) {
            rules.add("f.asset = " + next(parameters, asset.code()));
        }
        if (reference != null) {
            rules.add(
                    "f.id = any (array(select id from command where reference = " + next(parameters, reference) + "))");
        }
        if (status != null) {
            rules.add(rule(status));
        }
        String most = " order by f.id desc limit " + next(parameters, limit);
        String where = " where " + String.join(" and ", rules);
        if (group == null && sender == null && status == PacketStatus.OPEN) {
            // Open packets are read shard by shard.
            return "select f.id from shard as s cross join lateral (select f.id from packet as f" + where
                    + " and f.shard = s.id" + most + ") as f" + most;
        }
        if (group == null && sender == null && status == PacketStatus.EXPIRED) {
            // These are few, and in the index of due packets. The offset keeps the planner from using the order
            // instead.
            return "select f.id from (select f.id from packet as f" + where + " offset 0) as f" + most;
        }
        return "select f.id from packet as f" + where + most;
    }

    private static String rule(PacketStatus status) {
        return switch (status) {
            // Written so that the planner avoids the index of due packets, which would read all open ones.
            case OPEN -> "f.closed_at is null and f.expires_at - now() > interval '0'";
            case EXPIRED -> "f.closed_at is null and f.expires_at <= now()";
            case DRAINED -> "f.closed_at is not null and f.refund = 0";
            case REFUNDED -> "f.refund > 0 and f.ending is null";
            case CANCELLED, CLOSED -> "f.ending = '" + status.wireName() + "'";
        };
    }

    private static String next(List<Object> parameters, Object value) {
        parameters.add(value);
        return "$" + parameters.size();
    }

    /** Sorts before all ids of that millisecond (UUIDv7). */
    private static UUID idOf(long millis) {
        return new UUID(Math.max(0, millis) << 16, 0);
    }
}
