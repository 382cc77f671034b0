package dev.hongbao.domain.trail;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Who floods the log writes two rows a minute, and many who do together write a bounded number. */
class RepeatsTest {
    private final Repeats repeats = new Repeats();

    private static AuditRow refused(String address, String subject) {
        return new AuditRow(
                AuditRow.Who.at(address),
                null,
                new AuditRow.What("GET", "/v1/packets/{packet}", subject),
                new AuditRow.Outcome(401, "unauthenticated"),
                null,
                1);
    }

    @Test
    void callsAlikeAreOneRowAndTheRestCounted() {
        // Given an address that makes up another packet each time
        assertThat(repeats.isFirst(refused("192.0.2.1", "p0"), false)).isTrue();
        for (int i = 1; i < 1_000; i++) {
            assertThat(repeats.isFirst(refused("192.0.2.1", "p" + i), false)).isFalse();
        }
        assertThat(repeats.isFirst(refused("192.0.2.2", "p0"), false)).isTrue();

        // When
        List<AuditRow> rows = repeats.end();

        // Then
        assertThat(rows).containsExactly(refused("192.0.2.1", "p0").times(999));
        assertThat(repeats.end()).isEmpty();
        assertThat(repeats.isFirst(refused("192.0.2.1", "p0"), false)).isTrue();
    }

    @Test
    void theHostsCallsAreToldApartByWhatTheyAreAbout() {
        assertThat(repeats.isFirst(refused("192.0.2.1", "p0"), true)).isTrue();
        assertThat(repeats.isFirst(refused("192.0.2.1", "p1"), true)).isTrue();
        assertThat(repeats.isFirst(refused("192.0.2.1", "p1"), true)).isFalse();
    }

    @Test
    void fromSoManyAddressesOnTheyAreCountedTogether() {
        // When
        int firsts = 0;
        for (int i = 0; i < 100_000; i++) {
            firsts += repeats.isFirst(refused("address-" + i, "p0"), false) ? 1 : 0;
        }
        List<AuditRow> rows = repeats.end();

        // Then
        assertThat(firsts).isEqualTo(Repeats.MAX_REFUSED);
        assertThat(rows).hasSize(1);
        assertThat(rows.get(0).who()).isEqualTo(AuditRow.Who.MANY);
        assertThat(rows.get(0).times()).isEqualTo(100_000 - Repeats.MAX_REFUSED);
        // And they do not take the host's room
        assertThat(repeats.isFirst(refused("192.0.2.1", "p0"), true)).isTrue();
    }
}
