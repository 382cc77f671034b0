package dev.hongbao.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class ReconcileRunsTest {
    private static final Finding CLEAN = new Finding("I1", "sums", Severity.VIOLATION, List.of());
    private static final Finding BROKEN = new Finding("I4", "balances", Severity.VIOLATION, List.of("account 7"));

    private final List<Promise<List<Finding>>> asked = new ArrayList<>();
    private final List<Consumer<Finding>> progress = new ArrayList<>();
    private final Reconciliation.Runs runs =
            new Reconciliation.Runs(this::begin, Clock.fixed(Instant.EPOCH, ZoneOffset.UTC));

    private Future<List<Finding>> begin(Consumer<Finding> found) {
        Promise<List<Finding>> run = Promise.promise();
        asked.add(run);
        progress.add(found);
        return run.future();
    }

    @Test
    void oneRunsAtATimeAndTellsHowFarItIs() {
        assertThat(runs.latest().startedAt()).isNull();

        // When one is started twice
        runs.start();
        progress.get(0).accept(CLEAN);
        Reconciliation.Runs.Run again = runs.start();

        // Then the first goes on
        assertThat(asked).hasSize(1);
        assertThat(again.isUnderWay()).isTrue();
        assertThat(again.findings()).containsExactly(CLEAN);

        // When it has ended
        progress.get(0).accept(BROKEN);
        asked.get(0).complete(List.of(CLEAN, BROKEN));

        // Then it is remembered until the next one
        assertThat(runs.latest().isUnderWay()).isFalse();
        assertThat(runs.latest().findings()).containsExactly(CLEAN, BROKEN);
        assertThat(runs.start().findings()).isEmpty();
        assertThat(asked).hasSize(2);
    }

    @Test
    void aRunThatAStoreEndedSaysSoAndAnotherMayFollow() {
        runs.start();
        progress.get(0).accept(CLEAN);

        asked.get(0).fail("Redis does not answer");

        assertThat(runs.latest().failed()).isTrue();
        assertThat(runs.latest().findings()).containsExactly(CLEAN);
        assertThat(runs.start().failed()).isFalse();
    }
}
