package dev.hongbao.feed;

import dev.hongbao.feed.FeedStore.Piece;
import dev.hongbao.store.postgres.SharedQueries;
import dev.hongbao.values.GroupId;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads and renders feeds from Postgres. Concurrent reads of one place share the query, for a thousand clients that return at the same
 * cursor. Thread-safe.
 */
public final class FeedReader {
    /** Events in one read. */
    public static final int PIECE = 200;

    private final FeedStore store;
    private final FeedEvent.Renderer renderer;
    private final SharedQueries<Place, Slice> queries = new SharedQueries<>();
    private final SharedQueries<GroupId, Long> heads = new SharedQueries<>();

    private record Place(GroupId group, long after) {}

    FeedReader(FeedStore store, FeedEvent.Renderer renderer) {
        this.store = store;
        this.renderer = renderer;
    }

    /** At most {@link #PIECE} events after a place. */
    public Future<Slice> read(GroupId group, long after) {
        return queries.ask(
                new Place(group, after),
                () -> store.read(Map.of(group, after), PIECE).compose(pieces -> {
                    if (pieces.isEmpty()) {
                        return Future.succeededFuture(new Slice(after, 0, 0, List.of(), after));
                    }
                    Piece piece = pieces.get(0);
                    return renderer.render(piece.rows())
                            .map(events -> new Slice(after, piece.floor(), piece.last(), events, to(piece)));
                }));
    }

    private static long to(Piece piece) {
        int size = piece.rows().size();
        return size < PIECE ? piece.last() : piece.rows().get(size - 1).place();
    }

    /** The newest place; 0 for a group without events. Concurrent reads share the query. */
    public Future<Long> head(GroupId group) {
        return heads.ask(group, () -> store.heads(List.of(group)).map(found -> found.getOrDefault(group, 0L)));
    }

    /**
     * A group's events in Postgres after a place.
     *
     * @param after the requested place
     * @param floor events up to this place may have been removed
     * @param last the place of the newest event; 0 for a group without events
     * @param events in order
     * @param to the place up to which these events are complete
     */
    public record Slice(long after, long floor, long last, List<FeedEvent> events, long to) {
        public Slice {
            events = List.copyOf(events);
        }

        /** The reason why a reader cannot go on from {@code after}; null when it can. */
        public FeedPage.@Nullable Reset reset() {
            if (after < floor) {
                return FeedPage.Reset.CURSOR_TOO_OLD;
            }
            return after > last ? FeedPage.Reset.CURSOR_UNKNOWN : null;
        }
    }
}
