package dev.hongbao.draw.odds;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.TestDraws;
import dev.hongbao.values.UserId;
import java.time.Instant;
import java.time.LocalDate;
import org.junit.jupiter.api.Test;

/** What a definition says of days and users. */
class DrawDefinitionTest {
    private static DrawDefinition definition(String more) {
        return TestDraws.definition("{mode: weights, prizes: [{name: a, weight: 1}], " + more + "}");
    }

    @Test
    void aDayBeginsAtMidnightInTheDrawsZone() {
        DrawDefinition draw = definition("limits: {perDay: 1, zone: Asia/Shanghai}");
        Instant midnight = Instant.parse("2026-02-16T16:00:00Z");
        assertThat(draw.dayOf(midnight)).isEqualTo(LocalDate.parse("2026-02-17").toEpochDay());
        assertThat(draw.dayOf(midnight.minusMillis(1)))
                .isEqualTo(LocalDate.parse("2026-02-16").toEpochDay());
    }

    @Test
    void whoIsDeniedMayNotAndWhereSomeAreAllowedNobodyElseMay() {
        UserId ann = new UserId("ann");
        UserId eve = new UserId("eve");
        assertThat(definition("deny: [eve]").admits(ann)).isTrue();
        assertThat(definition("deny: [eve]").admits(eve)).isFalse();
        assertThat(definition("allow: [ann]").admits(ann)).isTrue();
        assertThat(definition("allow: [ann]").admits(eve)).isFalse();
        assertThat(definition("allow: [ann, eve], deny: [eve]").admits(eve)).isFalse();
    }
}
