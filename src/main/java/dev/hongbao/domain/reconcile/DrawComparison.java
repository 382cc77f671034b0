package dev.hongbao.domain.reconcile;

import dev.hongbao.domain.draw.DrawEnd;
import dev.hongbao.domain.draw.DrawKeysComparison;
import dev.hongbao.domain.play.DecidedPlayRequest;
import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.RedisComparison;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.util.List;
import java.util.function.Supplier;

/** Compares every open draw in Redis with its settled plays and the journal's: see {@link DrawKeysComparison}. */
public final class DrawComparison implements RedisComparison {
    private final DrawKeysComparison draws;
    private final DrawKeysComparison.Journal before = new DrawKeysComparison.Journal();

    public DrawComparison(Pool pool, RedisLink redis, Generation generation) {
        this.draws = new DrawKeysComparison(pool, redis, generation);
    }

    @Override
    public void unsettled(JournalItem item) {
        add(before, item);
    }

    private static void add(DrawKeysComparison.Journal journal, JournalItem item) {
        if (item instanceof DecidedPlayRequest request) {
            if (request.decision() instanceof DecidedPlayRequest.Played played) {
                journal.played(
                        request.draw(),
                        new DrawKeysComparison.Turn(
                                request.user(),
                                played.firstSeq(),
                                played.prizes().stream()
                                        .map(won -> new DrawKeysComparison.Win(
                                                won.number(), won.round(), won.period(), won.release()))
                                        .toList(),
                                played.counters()));
            }
        } else if (item instanceof DrawEnd end && end.period() == null) {
            journal.ending(end.draw());
        }
    }

    @Override
    public Future<Differences> differences(Supplier<Future<List<JournalItem>>> later) {
        return draws.differences(
                before,
                () -> later.get().map(items -> {
                    DrawKeysComparison.Journal now = new DrawKeysComparison.Journal();
                    items.forEach(item -> add(now, item));
                    return now;
                }));
    }
}
