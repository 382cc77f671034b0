package dev.hongbao.draw.odds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.hongbao.testing.TestDraws;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yaml.snakeyaml.Yaml;

/** Definitions are read as a whole, and every fault is told. */
class DefinitionTextTest {
    private static List<String> faults(String yaml) {
        InvalidInputException faults = catchThrowableOfType(
                InvalidInputException.class, () -> DefinitionText.read(new Yaml().<Map<String, Object>>load(yaml)));
        return faults == null
                ? List.of()
                : faults.faults().stream().map(FieldFault::pointer).toList();
    }

    @Test
    void allFaultsAreToldAtOnce() {
        assertThat(faults("""
            name: ""
            mode: lottery
            colour: red
            opensAt: yesterday
            prizes:
              - {name: a, count: 0}
              - {count: 1.5, award: {asset: cny, amount: 1}}
              - {name: c, count: 1, weight: 3}
            cost: {asset: POINTS}
            limits: {perDay: 1}
            deny: [ok, "not ok"]
            """))
                .contains(
                        "#/name",
                        "#/mode",
                        "#/colour",
                        "#/opensAt",
                        "#/closesAt",
                        "#/prizes/0/count",
                        "#/prizes/1/name",
                        "#/prizes/1/count",
                        "#/prizes/1/award/asset",
                        "#/prizes/2/weight",
                        "#/cost/amount",
                        "#/limits/zone",
                        "#/deny/1");
    }

    @Test
    void lengthsAreCountedInCharacters() {
        String yaml = "{name: %s, closesAt: '2035-01-01T00:00:00Z', mode: weights, prizes: [{name: a, weight: 1}]}";
        int longest = 100;
        assertThat(faults(yaml.formatted("🧧".repeat(longest)))).isEmpty();
        assertThat(faults(yaml.formatted("🧧".repeat(longest + 1)))).containsExactly("#/name");
    }

    /** Whether a request repeats another one is seen by this text, also by another JVM: their sets have other orders. */
    @Test
    void aDefinitionHasTheSameTextInEveryJvm() {
        DrawDefinition definition = DefinitionText.read(new Yaml().load("""
            {name: n, closesAt: "2035-01-01T00:00:00Z", mode: weights, prizes: [{name: a, weight: 1}],
             allow: [zoe, bob, ann, eve, max, ida, tom, lea], deny: [y, c, x, a]}
            """));

        assertThat(definition.toString())
                .contains("allow=[ann, bob, eve, ida, lea, max, tom, zoe]", "deny=[a, c, x, y]");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        /prizes                 | mode: table, prizes: []
        /prizes/1/name          | mode: table, prizes: [{name: a, count: 1}, {name: a, count: 1}]
        /prizes/0/stock         | mode: weights, prizes: [{name: a, weight: 1, award: {asset: CNY, amount: 1}}]
        /fallback               | mode: weights, prizes: [{name: a, weight: 1, stock: 1}]
        /fallback               | mode: schedule, prizes: [{name: a, quota: 1, stock: 1}]
        /fallback               | mode: table, prizes: [{name: a, count: 1}], fallback: {name: f}
        /whenExhausted          | mode: weights, whenExhausted: repeat, prizes: [{name: a, weight: 1}]
        /prizes/0/stock         | mode: schedule, prizes: [{name: a, quota: 1}], fallback: {name: f}
        /guarantees/0/category     | mode: weights, guarantees: [{category: rare, plays: 9}], prizes: [{name: a, weight: 1}]
        /prizes/0/award/codes   | mode: table, prizes: [{name: a, count: 2, award: {codes: [x, x]}}]
        /schedule               | mode: table, schedule: {}, prizes: [{name: a, count: 1}]
        """)
    void aBrokenRuleIsToldWhereItIs(String pointer, String yaml) {
        assertThat(faults("{name: x, closesAt: \"2030-01-01T00:00:00Z\", " + yaml + "}"))
                .containsExactly("#" + pointer);
    }

    @Test
    void whatIsStoredIsReadBackTheSame() {
        // Given a definition with everything, whose draw opens
        DrawDefinition wish = TestDraws.definition("""
            mode: schedule
            closesAt: "2030-01-01T00:00:00Z"
            group: family
            prizes:
              - {name: a, category: rare, quota: 3, stock: 20, perUser: 2, award: {asset: CNY, amount: 5}}
              - {name: b, quota: 1, stock: 2, award: {codes: [x, y]}}
            fallback: {name: f}
            cost: {asset: POINTS, amount: 3}
            limits: {total: 9, perDay: 2, zone: Asia/Shanghai}
            guarantees: [{category: rare, plays: 10}]
            schedule:
              periodSeconds: 600
              carryOver: false
              boosts: [{from: "2029-01-01T00:00:00Z", to: "2029-01-02T00:00:00Z", times: 4}]
            allow: [ann, bob]
            deny: [eve]
            showLeft: true
            metadata: {hall: red}
            """);
        DrawDefinition definition = wish.openedAt(Instant.parse("2028-12-31T00:00:00Z"));
        assertThat(definition)
                .usingRecursiveComparison()
                .ignoringFields("opensAt")
                .isEqualTo(wish);

        // When
        DrawDefinition read = DefinitionText.readStored(DefinitionText.of(definition));

        // Then only the codes are elsewhere
        assertThat(read.rules()).isEqualTo(definition.rules());
        assertThat(read.quota(read.prizes().get(0), 144)).isEqualTo(12);
        assertThat(read.quota(read.prizes().get(0), 143)).isEqualTo(3);
        assertThat(DefinitionText.of(read)).isEqualTo(DefinitionText.of(definition));
    }
}
