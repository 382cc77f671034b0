package dev.hongbao.draw.odds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.hongbao.testing.TestDraws;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yaml.snakeyaml.Yaml;

/** The rules between fields, at their limits and beyond them, and what a definition says of days and users. */
class DefinitionChecksTest {
    private static Map<String, Object> body(String yaml) {
        return new Yaml().load("{name: x, closesAt: '2030-01-01T00:00:00Z', " + yaml + "}");
    }

    private static List<String> faults(String yaml) {
        InvalidInputException faults =
                catchThrowableOfType(InvalidInputException.class, () -> DefinitionText.read(body(yaml)));
        return faults == null
                ? List.of()
                : faults.faults().stream().map(FieldFault::pointer).toList();
    }

    /** At a limit, and one beyond it, which is told at a pointer. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        /prizes                | 50000 | 50001 | mode: schedule, prizes: [{name: a, quota: @, stock: 1}], fallback: {name: f}
        /prizes                | 49999 | 50000 | mode: schedule, prizes: [{name: a, quota: @, stock: 1}, {name: b, quota: 1, stock: 1}], fallback: {name: f}
        /prizes                | 5     | 6     | mode: schedule, schedule: {boosts: [{from: '2029-01-01T00:00:00Z', to: '2029-01-02T00:00:00Z', times: @}]}, prizes: [{name: a, quota: 10000, stock: 1}], fallback: {name: f}
        /prizes                | 50000 | 50001 | mode: schedule, schedule: {boosts: [{from: '2029-01-01T00:00:00Z', to: '2029-01-02T00:00:00Z', times: 0}]}, prizes: [{name: a, quota: @, stock: 1}], fallback: {name: f}
        /schedule/periodSeconds | 864   | 863   | mode: schedule, opensAt: '2027-04-07T00:00:01Z', schedule: {periodSeconds: @}, prizes: [{name: a, quota: 1, stock: 1}], fallback: {name: f}
        /schedule/periodSeconds | 865   | 864   | mode: schedule, opensAt: '2027-04-07T00:00:00Z', schedule: {periodSeconds: @}, prizes: [{name: a, quota: 1, stock: 1}], fallback: {name: f}
        /prizes                | 999999999999 | 1000000000000 | mode: weights, prizes: [{name: a, weight: @}, {name: b, weight: 1}]
        /prizes                | 99999999999998 | 99999999999999 | mode: table, prizes: [{name: a, count: 1, award: {asset: CNY, amount: 1}}, {name: b, count: 1, award: {asset: CNY, amount: @}}]
        /prizes/0/stock        | 10    | 11    | mode: table, prizes: [{name: a, count: @, award: {asset: CNY, amount: 9999999999999}}]
        /prizes/0/stock        | 5     | 4     | mode: table, whenExhausted: repeat, prizes: [{name: a, count: 5, stock: @}]
        /prizes/0/stock        | 2     | 3     | mode: weights, prizes: [{name: a, weight: 1, stock: @, award: {codes: [x, y]}}], fallback: {name: f}
        /fallback/stock        | 2     | 3     | mode: weights, prizes: [{name: a, weight: 1}], fallback: {name: f, stock: @, award: {codes: [x, y]}}
        """)
    void aLimitIsKeptExactly(String pointer, String atIt, String beyond, String yaml) {
        assertThat(faults(yaml.replace("@", atIt))).isEmpty();
        assertThat(faults(yaml.replace("@", beyond))).contains("#" + pointer);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        /closesAt           | mode: table, opensAt: '2030-01-01T00:00:00Z', prizes: [{name: a, count: 1}]
        /guarantees/1/category | mode: weights, guarantees: [{category: r, plays: 9}, {category: r, plays: 3}], prizes: [{name: a, category: r, weight: 1}]
        /fallback/category     | mode: weights, guarantees: [{category: r, plays: 9}], prizes: [{name: a, category: r, weight: 1}], fallback: {name: f, category: r}
        /fallback           | mode: table, whenExhausted: fallback, prizes: [{name: a, count: 1}]
        /fallback           | mode: weights, prizes: [{name: a, weight: 1, perUser: 1}]
        /fallback/stock     | mode: weights, prizes: [{name: a, weight: 1}], fallback: {name: f, award: {asset: CNY, amount: 1}}
        /cost/asset            | mode: weights, prizes: [{name: a, weight: 1}], cost: {amount: 1}
        /schedule/boosts/0     | mode: schedule, schedule: {boosts: [{from: '2029-01-02T00:00:00Z', to: '2029-01-02T00:00:00Z', times: 1}]}, prizes: [{name: a, quota: 1, stock: 1}], fallback: {name: f}
        """)
    void aBrokenRuleIsToldWhereItIs(String pointer, String yaml) {
        assertThat(faults(yaml)).containsExactly("#" + pointer);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        mode: weights, guarantees: [{category: r, plays: 9}], prizes: [{name: a, category: r, weight: 1}], fallback: {name: f, category: s}
        mode: weights, prizes: [{name: a, weight: 1}], fallback: {name: f}
        mode: table, whenExhausted: rescale, prizes: [{name: a, count: 5, stock: 4}]
        mode: table, opensAt: '2029-12-31T23:59:59.999999Z', prizes: [{name: a, count: 1}]
        mode: table, whenExhausted: fallback, prizes: [{name: a, count: 1}], fallback: {name: f}
        """)
    void whatIsInOrderHasNoFault(String yaml) {
        assertThat(faults(yaml)).isEmpty();
    }

    @Test
    void aWinIsToldAndAConsolationIsNot() {
        DrawDefinition draw = DefinitionText.read(body("mode: weights, prizes: [{name: paid, weight: 1, stock: 1,"
                + " award: {asset: CNY, amount: 1}}, {name: code, weight: 1, award: {codes: [x]}}, {name: named, category:"
                + " c, weight: 1}, {name: thanks, weight: 1}], fallback: {name: f}"));

        assertThat(List.of(1, 2, 3, 4, 5).stream().map(draw::isAnnounced))
                .containsExactly(true, true, true, false, false);
        assertThat(draw.allPrizes().stream().map(Prize::isPaid)).containsExactly(true, false, false, false, false);
    }

    @Test
    void theRulesAreLookedAtAgainOnceTheOpeningIsKnown() {
        DrawDefinition definition = DefinitionText.read(body("mode: table, prizes: [{name: a, count: 1}]"));

        assertThatCode(() -> DefinitionChecks.require(definition.openedAt(Instant.EPOCH)))
                .doesNotThrowAnyException();
        InvalidInputException late = catchThrowableOfType(
                InvalidInputException.class,
                () -> DefinitionChecks.require(definition.openedAt(definition.closesAt())));
        assertThat(late.faults()).containsExactly(new FieldFault("#/closesAt", Text.of("draw.closes-before-opening")));
    }

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
