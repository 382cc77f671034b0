package dev.hongbao.domain.feed;

import dev.hongbao.engine.journal.CursorMoves;
import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.Settler;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.SqlClient;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A settler whose settlements are told to the feeds' readers at once. What is told is in the settling transaction or follows from it. */
final class FeedingSettler implements Settler {
    private final Settler settler;
    private final Vertx vertx;
    private final Runnable suspect;

    /** @param suspect called when a settlement failed, or its outcome is unknown */
    FeedingSettler(Settler settler, Vertx vertx, Runnable suspect) {
        this.settler = settler;
        this.vertx = vertx;
        this.suspect = suspect;
    }

    @Override
    public String verb() {
        return settler.verb();
    }

    @Override
    public @Nullable JournalItem decode(String payload) {
        return settler.decode(payload);
    }

    @Override
    public Future<Settlement> prepare(List<JournalItem> items) {
        return settler.prepare(items).map(settlement -> new Settlement() {
            @Override
            public Future<Integer> send(SqlClient writer, CursorMoves moves) {
                return told(settlement.send(writer, moves));
            }

            @Override
            public Future<Integer> sendRetired(SqlClient writer, CursorMoves moves) {
                return told(settlement.sendRetired(writer, moves));
            }
        });
    }

    private Future<Integer> told(Future<Integer> sent) {
        return sent.onSuccess(voids -> vertx.eventBus().publish(FeedHub.NUDGE, null))
                .onFailure(fault -> suspect.run());
    }
}
