package dev.hongbao.domain.reconcile;

import dev.hongbao.domain.draw.DrawEnd;
import dev.hongbao.domain.draw.DrawRedisAudit;
import dev.hongbao.domain.play.DecidedPlayRequest;
import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.ShardAudit;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;

/** What Redis has of every open draw is what its settled plays and those in the journal have made of it: see {@link DrawRedisAudit}. */
public final class DrawAudit implements ShardAudit {
    private final DrawRedisAudit draws;

    public DrawAudit(Pool pool, RedisLink redis, Generation generation) {
        this.draws = new DrawRedisAudit(pool, redis, generation);
    }

    @Override
    public void unsettled(JournalItem item) {
        if (item instanceof DecidedPlayRequest turn) {
            if (turn.decision() instanceof DecidedPlayRequest.Played played) {
                played(turn, played);
            }
        } else if (item instanceof DrawEnd end && end.period() == null) {
            draws.ending(end.draw());
        }
    }

    private void played(DecidedPlayRequest turn, DecidedPlayRequest.Played played) {
        draws.played(turn.draw(), played.firstSeq() + played.prizes().size());
        for (DecidedPlayRequest.Won won : played.prizes()) {
            draws.won(turn.draw(), won.number(), won.round());
            Integer period = won.period();
            Integer release = won.release();
            if (period != null && release != null) {
                draws.taken(turn.draw(), period, won.number(), release);
            }
        }
        if (!played.counters().isEmpty()) {
            draws.counted(turn.draw(), turn.user(), played.counters());
        }
    }

    @Override
    public Future<Differences> differences() {
        return draws.differences();
    }
}
