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
 * Which packets the host's backend lists; null fields let all pass.
 *
 * @param sender who paid: a user; of pools their campaign's id
 * @param reference what the host calls the send
 * @param from when it was made, inclusive
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
     * Ids grow with the clock of the server that made them, and the time of making is Postgres' own: so far apart the two may be. It is
     * what a list by time reads too much at either end.
     */
    private static final long CLOCKS_APART_MILLIS = 60_000;

    /**
     * Selects the ids of packets older than {@code before}, newest first: one walk down an index, that of the group, the sender, the
     * status or the id; a reference has its own. Of DRAINED, of a kind or of an asset alone it is a walk past all others.
     *
     * @param parameters those so far; the query's are added
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
            // Those that are not over are found shard by shard.
            return "select f.id from shard as s cross join lateral (select f.id from packet as f" + where
                    + " and f.shard = s.id" + most + ") as f" + most;
        }
        if (group == null && sender == null && status == PacketStatus.EXPIRED) {
            // Seldom more than a few, and the index of what is due has them; the offset keeps the order out of it.
            return "select f.id from (select f.id from packet as f" + where + " offset 0) as f" + most;
        }
        return "select f.id from packet as f" + where + most;
    }

    private static String rule(PacketStatus status) {
        return switch (status) {
            // So written that nobody walks down the index of what is due, which would read all that are open.
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

    /** Before all ids of that millisecond (UUIDv7). */
    private static UUID idOf(long millis) {
        return new UUID(Math.max(0, millis) << 16, 0);
    }
}
