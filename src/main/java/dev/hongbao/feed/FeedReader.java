package dev.hongbao.feed;

import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.feed.FeedStore.Piece;
import dev.hongbao.store.postgres.SharedQueries;
import dev.hongbao.values.GroupId;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Reads and renders feeds from Postgres. Concurrent reads of one place share the query, for a thousand clients that return at the same
 * cursor. Thread-safe.
 */
final class FeedReader {
    private final FeedStore store;
    private final EventText renderer;
    private final SharedQueries<Place, FeedPage.Slice> queries = new SharedQueries<>();
    private final SharedQueries<GroupId, Long> heads = new SharedQueries<>();

    private record Place(GroupId group, long after) {}

    FeedReader(FeedStore store, EventText renderer) {
        this.store = store;
        this.renderer = renderer;
    }

    /** At most {@link FeedStore#PIECE} events after a place. */
    public Future<FeedPage.Slice> read(GroupId group, long after) {
        return queries.ask(
                new Place(group, after),
                () -> store.read(Map.of(group, after)).compose(pieces -> {
                    Piece piece = pieces.get(0);
                    return renderer.render(piece.rows())
                            .map(events -> new FeedPage.Slice(after, piece.floor(), piece.last(), events, to(piece)));
                }));
    }

    private static long to(Piece piece) {
        int size = piece.rows().size();
        return size < FeedStore.PIECE
                ? piece.last()
                : piece.rows().get(size - 1).place();
    }

    /** The newest place. Concurrent reads share the query. */
    public Future<Long> head(GroupId group) {
        return heads.ask(
                group, () -> store.heads(List.of(group)).map(found -> Objects.requireNonNull(found.get(group))));
    }
}
