package dev.hongbao.packet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.DrawBodies;
import dev.hongbao.draw.odds.Seed;
import io.vertx.core.json.JsonObject;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/**
 * The text that is compared under one key has every field of a send and of a draw. The other commands compare their whole body, or few
 * fields, which {@code RepeatedAnswerIT} changes one by one.
 */
class FingerprintTest {
    private static final String PACKET =
            "{group: g, kind: lucky, asset: CNY, amount: 1000, count: 2, min: 10, max: 990, split: double-mean, greeting: hello,"
                    + " passcode: open, opensAt: '2030-01-01T00:00:00Z', expiresInSeconds: 3600}";
    private static final String DRAW =
            "{name: n, group: g, opensAt: '2030-01-01T00:00:00Z', closesAt: '2030-01-03T00:00:00Z', mode: table, whenExhausted: stop,"
                    + " prizes: [{name: a, count: 3, perUser: 2}], limits: {total: 2}, showLeft: true}";

    private static final String CHANGES = """
        Send | {group: another}
        Send | {kind: equal, min: null, max: null, split: null}
        Send | {asset: GOLD}
        Send | {amount: 1001}
        Send | {count: 3}
        Send | {min: 11}
        Send | {max: 989}
        Send | {split: even-luck}
        Send | {greeting: hi}
        Send | {metadata: {order: "4711"}}
        Send | {passcode: sesame}
        Send | {opensAt: '2030-01-02T00:00:00Z'}
        Send | {expiresInSeconds: 3601}
        Send | {kind: exclusive, min: null, max: null, split: null, recipients: [bob, dave]}
        Send | {reference: order-2}
        Send | {reason: bonus}
        DrawDefinition | {name: m}
        DrawDefinition | {group: another}
        DrawDefinition | {opensAt: '2030-01-02T00:00:00Z'}
        DrawDefinition | {closesAt: '2030-01-04T00:00:00Z'}
        DrawDefinition | {mode: weights, whenExhausted: null, prizes: [{name: a, weight: 1}]}
        DrawDefinition | {whenExhausted: repeat, prizes: [{name: a, count: 3}]}
        DrawDefinition | {prizes: [{name: a, count: 3, perUser: 1}]}
        DrawDefinition | {limits: {total: 3}}
        DrawDefinition | {showLeft: false}
        DrawDefinition | {whenExhausted: fallback, fallback: {name: f}}
        DrawDefinition | {cost: {asset: CNY, amount: 1}}
        DrawDefinition | {guarantees: [{category: r, plays: 2}], prizes: [{name: a, category: r, count: 3, perUser: 2}]}
        DrawDefinition | {metadata: {order: "4711"}}
        DrawDefinition | {allow: [bob]}
        DrawDefinition | {deny: [bob]}
        """;

    private static JsonObject json(String yaml) {
        return new JsonObject(new JsonObject(new Yaml().<Map<String, Object>>load(yaml)).encode());
    }

    private static String text(String schema, JsonObject body) {
        return schema.equals("Send")
                ? PacketBodies.send(body).wish()
                : Seed.definitionText(DrawBodies.definition(body));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\u0001', textBlock = CHANGES)
    void anotherFieldIsAnotherText(String schema, String change) {
        JsonObject first = json(schema.equals("Send") ? PACKET : DRAW);
        JsonObject other = first.copy();
        json(change).forEach(field -> {
            if (field.getValue() == null) {
                other.remove(field.getKey());
            } else {
                other.put(field.getKey(), field.getValue());
            }
        });

        assertThat(text(schema, other)).isNotEqualTo(text(schema, first));
        assertThat(text(schema, first.copy())).isEqualTo(text(schema, first));
    }

    @Test
    void aTextIsNotItsAbsence() {
        JsonObject none = json(PACKET);
        none.remove("greeting");

        assertThat(text("Send", none.copy().put("greeting", "null"))).isNotEqualTo(text("Send", none));
    }

    @Test
    void theOrderOfWordsIsNoOtherText() {
        JsonObject words = json(PACKET).put("metadata", json("{order: '4711', note: gift}"));
        JsonObject reordered = json(PACKET).put("metadata", json("{note: gift, order: '4711'}"));

        assertThat(text("Send", reordered)).isEqualTo(text("Send", words));
    }

    /** A field that is added to the contract is added above. */
    @ParameterizedTest
    @ValueSource(strings = {"Send", "DrawDefinition"})
    void everyFieldOfTheContractIsChangedAbove(String schema) {
        Set<String> fields = new HashSet<>(fields(schema));
        CHANGES.lines()
                .filter(line -> line.startsWith(schema))
                .forEach(line -> fields.removeAll(
                        json(line.substring(line.indexOf('|') + 1)).fieldNames()));
        fields.remove("schedule"); // of a mode of its own; in the same text as the others
        assertThat(fields).isEmpty();
    }

    @Test
    void theFieldsOfMoneyAreThoseThatAreChangedOverHttp() {
        assertThat(fields("Money")).containsExactlyInAnyOrder("asset", "amount", "reference", "reason");
    }

    private static Set<String> fields(String schema) {
        Map<String, Map<String, Map<String, Map<String, Map<String, ?>>>>> contract =
                new Yaml().load(FingerprintTest.class.getResourceAsStream("/openapi.yaml"));
        return contract.get("components")
                .get("schemas")
                .get(schema)
                .get("properties")
                .keySet();
    }
}
