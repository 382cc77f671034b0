package dev.hongbao.domain.feed;

import io.vertx.core.Future;
import java.util.List;

/** Renders events for readers; implemented in the web layer. Thread-safe. */
public interface EventRenderer {
    /** Renders all, in order. Fails when it needs Postgres, and Postgres does not answer. */
    Future<List<FeedEvent>> render(List<EventRow> rows);
}
