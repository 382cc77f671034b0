package dev.hongbao.page;

import dev.hongbao.engine.QuarantineStore;
import dev.hongbao.engine.ShardOwners;
import dev.hongbao.ledger.Holders;
import dev.hongbao.ledger.Turnover;
import dev.hongbao.reconcile.ReconcileRuns;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.UUID;

/** The console's services beside the API. Shared; called on event loops. */
public interface ConsoleServices {
    /** The server's clock, for simulations. */
    Clock clock();

    /** The servers and shards. */
    ShardOwners owners();

    /** See {@link Holders#list}. */
    Future<List<Holders.Holder>> users(String after, int limit);

    /** See {@link Turnover#sums}. */
    Future<List<Turnover.Sum>> turnover();

    /** Everything in quarantine, longest first. */
    Future<List<QuarantineStore.Listed>> quarantined();

    /** See {@link QuarantineStore#replay}. */
    Future<Integer> replay(UUID unit);

    /** See {@link QuarantineStore#drop}. */
    Future<Integer> drop(UUID unit);

    /** This server's reconciliations. */
    ReconcileRuns reconciliations();
}
