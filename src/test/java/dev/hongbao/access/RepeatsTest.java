package dev.hongbao.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.AuditLog.AuditRow;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A caller who floods the log gets two rows a minute; many callers together get a bounded number. */
class RepeatsTest {
    private final AuditLog.Repeats repeats = new AuditLog.Repeats();

    private static AuditRow refused(String address, String subject) {
        return new AuditRow.Kind(
                        AuditRow.Who.at(address), "GET", "/v1/packets/{packet}", subject, 401, "unauthenticated")
                .row();
    }

    private boolean isFirst(AuditRow row, boolean isService) {
        return repeats.first(isService ? row.kind() : row.kind().about(null), isService, () -> row) != null;
    }

    @Test
    void callsAlikeAreOneRowAndTheRestCounted() {
        // Given an address that makes up another packet each time
        assertThat(isFirst(refused("192.0.2.1", "p0"), false)).isTrue();
        for (int i = 1; i < 1_000; i++) {
            assertThat(isFirst(refused("192.0.2.1", "p" + i), false)).isFalse();
        }
        assertThat(isFirst(refused("192.0.2.2", "p0"), false)).isTrue();

        // When
        List<AuditRow> rows = repeats.end();

        // Then
        assertThat(rows).containsExactly(refused("192.0.2.1", "p0").times(999));
        assertThat(repeats.end()).isEmpty();
        assertThat(isFirst(refused("192.0.2.1", "p0"), false)).isTrue();
    }

    @Test
    void theHostsCallsAreToldApartByWhatTheyAreAbout() {
        assertThat(isFirst(refused("192.0.2.1", "p0"), true)).isTrue();
        assertThat(isFirst(refused("192.0.2.1", "p1"), true)).isTrue();
        assertThat(isFirst(refused("192.0.2.1", "p1"), true)).isFalse();
    }

    @Test
    void fromSoManyAddressesOnTheyAreCountedTogether() {
        // When
        int firsts = 0;
        for (int i = 0; i < 100_000; i++) {
            firsts += isFirst(refused("address-" + i, "p0"), false) ? 1 : 0;
        }
        List<AuditRow> rows = repeats.end();

        // Then
        assertThat(firsts).isEqualTo(AuditLog.Repeats.MAX_REFUSED);
        assertThat(rows).hasSize(1);
        assertThat(rows.get(0).kind().who()).isEqualTo(AuditRow.Who.MANY);
        assertThat(rows.get(0).times()).isEqualTo(100_000 - AuditLog.Repeats.MAX_REFUSED);
        // And they do not take the host's room
        assertThat(isFirst(refused("192.0.2.1", "p0"), true)).isTrue();
    }

    @Test
    void everyCallOfACrowdIsInOneMinuteOrTheNext() throws Exception {
        // Given some who are refused all the time, on two threads, while minutes end
        int each = 50_000;
        AtomicLong written = new AtomicLong();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        Runnable crowd = () -> {
            for (int i = 0; i < each; i++) {
                written.addAndGet(isFirst(refused("address-" + i % 700, "p0"), false) ? 1 : 0);
            }
        };
        List<Future<?>> calls = List.of(threads.submit(crowd), threads.submit(crowd));

        // When
        while (calls.stream().anyMatch(call -> !call.isDone())) {
            repeats.end().forEach(row -> written.addAndGet(row.times()));
        }
        threads.shutdown();
        for (Future<?> call : calls) {
            call.get();
        }
        repeats.end().forEach(row -> written.addAndGet(row.times()));

        // Then
        assertThat(written).hasValue(2L * each);
    }
}
