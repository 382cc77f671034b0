package dev.hongbao.domain.packet;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.engine.journal.Quarantine;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Packets and claims of all groups, for the host's backend. Reads Postgres. Thread-safe. */
public final class PacketFiles {
    /** A viewer ($1) that is no user: a user id is never empty. */
    private static final String NOBODY = "";

    private static final String FILED = PacketViews.seenWith(
            ", e.balance as held, p.closed_at, p.ended_by, k.actor",
            " left join lateral (select actor from command where id = p.id limit 1) as k on true");

    private static final PacketId NEWEST = new PacketId(new UUID(-1, -1));

    private final Pool pool;
    private final PacketStore store;
    private final Quarantine quarantine;

    public PacketFiles(Pool pool, PacketStore store, Quarantine quarantine) {
        this.pool = pool;
        this.store = store;
        this.quarantine = quarantine;
    }

    /** One packet; refused with NOT_FOUND. */
    public Future<FiledPacket> find(PacketId id) {
        return filed("where p.id = $2", Tuple.of(NOBODY, id.value()))
                .compose(found -> found.isEmpty()
                        ? Future.failedFuture(
                                quarantine.refuses(id.value())
                                        ? UnavailableException.setAside()
                                        : new RefusedException(Refusal.NOT_FOUND, Text.of("packet.not-found")))
                        : Future.succeededFuture(found.get(0)));
    }

    /**
     * Packets, newest first.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<Page<FiledPacket>> list(PacketFilter filter, @Nullable String cursor, int limit) {
        PacketId before = before(cursor);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        List<Object> parameters = new ArrayList<>(List.of(NOBODY));
        String ids = filter.ids(before, limit + 1, parameters);
        return page(filed("where p.id = any (array(" + ids + ")) order by p.id desc", Tuple.wrap(parameters)), limit);
    }

    /** A user's packets and opened pools, newest first; otherwise as {@link #list}. */
    public Future<Page<FiledPacket>> ofUser(UserId user, @Nullable String cursor, int limit) {
        PacketId before = before(cursor);
        return before == null
                ? Future.failedFuture(Page.badCursor())
                : page(
                        filed(PacketViews.ownOf("$4"), Tuple.of(NOBODY, before.value(), limit + 1, user.value())),
                        limit);
    }

    /** The settled claim of a slot; refused with NOT_FOUND. */
    public Future<Claim> claim(PacketId packet, int slot) {
        return store.claimsFrom(packet, slot, 1)
                .compose(claims -> claims.isEmpty() || claims.get(0).share().slot() != slot
                        ? Future.failedFuture(new RefusedException(Refusal.NOT_FOUND, Text.of("claim.not-found")))
                        : Future.succeededFuture(claims.get(0)));
    }

    private Future<List<FiledPacket>> filed(String which, Tuple parameters) {
        return pool.preparedQuery(FILED + which)
                .execute(parameters)
                .compose(rows -> store.readable(rows, PacketFiles::filed));
    }

    private static FiledPacket filed(Row row) {
        PacketViews.Seen seen = PacketRows.seen(row, NOBODY);
        OffsetDateTime closedAt = row.getOffsetDateTime("closed_at");
        long held = row.getLong("held");
        return new FiledPacket(
                PacketService.view(seen, true),
                new FiledPacket.File(
                        held,
                        closedAt == null ? 0 : seen.progress().refund() - held, // a closed packet's balance is due
                        user(row.getString("actor")),
                        closedAt == null ? null : closedAt.toInstant(),
                        user(row.getString("ended_by"))));
    }

    private static @Nullable UserId user(@Nullable String name) {
        return name == null ? null : new UserId(name);
    }

    private Future<Page<FiledPacket>> page(Future<List<FiledPacket>> read, int limit) {
        return read.map(
                rows -> Page.of(rows, limit, filed -> filed.view().packet().id().toString()));
    }

    private static @Nullable PacketId before(@Nullable String cursor) {
        return cursor == null ? NEWEST : PacketId.parse(cursor);
    }
}
