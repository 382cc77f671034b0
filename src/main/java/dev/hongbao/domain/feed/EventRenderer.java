package dev.hongbao.domain.feed;

import io.vertx.core.Future;
import java.util.List;

/** Makes the text of events that readers get; the faces know it. Thread-safe. */
public interface EventRenderer {
    /** Renders all, in order; fails when Postgres has to be asked and does not answer. */
    Future<List<FeedEvent>> render(List<EventRow> rows);
}
