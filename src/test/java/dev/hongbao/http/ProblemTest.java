package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.access.Tokens.TokenVerdict;
import dev.hongbao.draw.DrawBodies;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.packet.Claim;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.PacketBodies;
import dev.hongbao.values.Asset;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.TooManyCallsException;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

class ProblemTest {

    @Test
    void everyOutcomeAndRefusalHasItsOwnNameAndTheStatusThatIsWrittenDown() {
        Map<ClaimOutcome.Kind, Integer> statuses = new EnumMap<>(Map.of(
                ClaimOutcome.Kind.DRAINED, 410,
                ClaimOutcome.Kind.EXPIRED, 410,
                ClaimOutcome.Kind.NOT_OPEN_YET, 409,
                ClaimOutcome.Kind.NOT_ELIGIBLE, 403,
                ClaimOutcome.Kind.WRONG_PASSCODE, 403,
                ClaimOutcome.Kind.LIMITED, 409,
                ClaimOutcome.Kind.NOT_FOUND, 404));
        Set<ProblemType> outcomes = new HashSet<>();

        statuses.forEach((kind, status) -> {
            ProblemType type = PacketBodies.problem(ClaimOutcome.refused(kind)).type();
            assertThat(type.status()).isEqualTo(status);
            assertThat(type.uri()).endsWith("/" + kind.name().toLowerCase().replace('_', '-'));
            assertThat(outcomes.add(type)).isTrue();
        });
        Claim claim = new Claim(PacketId.create(), new UserId("alice"), 0, 1, new Asset("COIN"), null);
        for (ClaimOutcome.Kind won :
                List.of(ClaimOutcome.Kind.ACCEPTED, ClaimOutcome.Kind.CLAIMED, ClaimOutcome.Kind.ALREADY_CLAIMED)) {
            ClaimOutcome outcome = new ClaimOutcome(won, claim);
            assertThatThrownBy(() -> PacketBodies.problem(outcome)).hasMessageContaining("no problem");
        }
        assertThat(ClaimOutcome.Kind.values()).hasSize(statuses.size() + 3);

        Set<ProblemType> refusals = new HashSet<>();
        for (Refusal refusal : Refusal.values()) {
            ProblemType type = ProblemType.of(refusal);
            assertThat(refusals.add(type)).isTrue();
            if (refusal != Refusal.INVALID && refusal != Refusal.DRAW_CLOSED) {
                assertThat(type).hasToString(refusal.name());
            }
        }
        assertThat(ProblemType.of(Refusal.INSUFFICIENT_FUNDS).status()).isEqualTo(402);
        assertThat(ProblemType.of(Refusal.IDEMPOTENCY_KEY_REUSED).status()).isEqualTo(422);
        assertThat(ProblemType.of(Refusal.INFEASIBLE).status()).isEqualTo(422);
    }

    @Test
    @SuppressWarnings("unchecked")
    void theContractListsTheSameTypesWithTheSameStatuses() throws Exception {
        Map<String, Object> contract;
        try (InputStream in = getClass().getClassLoader().getResourceAsStream("openapi.yaml")) {
            contract = new Yaml().load(in);
        }
        List<String> types =
                (List<String>) at(contract, "components", "schemas", "Problem", "properties", "type", "enum");
        String table = (String) at(contract, "components", "responses", "Problem", "description");

        assertThat(types)
                .containsExactlyElementsOf(Arrays.stream(ProblemType.values())
                        .map(ProblemType::uri)
                        .toList());
        List<String> told = new ArrayList<>();
        for (String row :
                table.lines().filter(line -> line.matches("\\| \\d.*")).toList()) {
            String[] cells = row.split("\\|");
            Stream.of(cells[2].split(",")).forEach(name -> told.add(cells[1].strip() + " " + name.strip()));
        }
        assertThat(told)
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(ProblemType.values())
                        .map(type -> type.status() + " `" + type.wireName() + "`")
                        .toList());
    }

    @Test
    void aProblemSaysTypeTitleStatusAndWhatToDo() {
        for (ProblemType type : ProblemType.values()) {
            JsonObject json = new JsonObject(Problem.of(type).toJson(Language.ENGLISH));
            assertThat(json.getString("type")).isEqualTo("https://hongbao.dev/problems/" + type.wireName());
            assertThat(json.getInteger("status")).isEqualTo(type.status());
            assertThat(json.getString("title")).isNotBlank();
            assertThat(json.getString("detail")).isNotBlank();
        }
    }

    @Test
    void claimsAndPlaysAreRefusedInWordsOfTheirOwn() {
        assertThat(PacketBodies.problem(ClaimOutcome.refused(ClaimOutcome.Kind.NOT_FOUND))
                        .detail())
                .hasToString("There is no such packet.");
        assertThat(DrawBodies.problem(PlayOutcome.refused(PlayOutcome.Kind.NOT_FOUND))
                        .detail())
                .hasToString("There is no such draw.");
        for (PlayOutcome.Kind kind : PlayOutcome.Kind.values()) {
            if (kind != PlayOutcome.Kind.PLAYED && kind != PlayOutcome.Kind.ALREADY_PLAYED) {
                assertThat(DrawBodies.problem(PlayOutcome.refused(kind)).type()).hasToString(kind.name());
            }
        }
    }

    @Test
    void aRefusalOfSeveralCausesSaysWhichInAWordAndInASentenceOfItsOwn() {
        Set<Text> details = new HashSet<>();
        for (Reason reason : List.of(Reason.GROUP, Reason.RECIPIENT, Reason.TRAIT, Reason.USER)) {
            Problem problem = PacketBodies.problem(ClaimOutcome.refused(ClaimOutcome.Kind.NOT_ELIGIBLE, reason));
            assertThat(new JsonObject(problem.toJson(Language.CHINESE)).getString("reason"))
                    .isEqualTo(reason.wireName());
            assertThat(details.add(problem.detail())).isTrue();
        }
        for (Reason reason : List.of(Reason.TOTAL, Reason.DAY, Reason.PRODUCT)) {
            Problem problem = PacketBodies.problem(ClaimOutcome.refused(ClaimOutcome.Kind.LIMITED, reason));
            assertThat(problem.reason()).isEqualTo(reason.wireName());
            assertThat(details.add(problem.detail())).isTrue();
        }
        assertThat(new JsonObject(Problem.of(ProblemType.DRAINED).toJson(Language.ENGLISH)).containsKey("reason"))
                .isFalse();
        assertThat(Problem.ofFailure(new RefusedException(Refusal.INFEASIBLE, Reason.SPLIT, Text.plain("no")))
                        .reason())
                .isEqualTo("split");
        assertThat(Problem.ofFailure(new TooManyCallsException(Reason.IN_FLIGHT, Text.plain("no"), 1))
                        .reason())
                .isEqualTo("in-flight");
    }

    @Test
    void theContractListsEveryReason() {
        String told = Contract.document()
                .getJsonObject("components")
                .getJsonObject("schemas")
                .getJsonObject("Problem")
                .getJsonObject("properties")
                .getJsonObject("reason")
                .getString("description");

        for (Reason reason : Reason.values()) {
            assertThat(told).contains("`" + reason.wireName() + "`");
        }
        for (TokenVerdict.Fault fault : TokenVerdict.Fault.values()) {
            assertThat(told).contains("`" + TokenVerdict.refused(fault).reason() + "`");
        }
    }

    @Test
    void failuresThatWereForeseenHaveAProblemAndOthersHaveNone() {
        assertThat(Problem.ofFailure(new RefusedException(Refusal.INFEASIBLE, Text.plain("too many shares"))))
                .isEqualTo(Problem.of(ProblemType.INFEASIBLE, Text.plain("too many shares")));
        assertThat(Problem.ofFailure(UnavailableException.unknown(Text.plain("wait"))))
                .satisfies(unknown -> {
                    assertThat(unknown.type()).isEqualTo(ProblemType.UNKNOWN);
                    assertThat(unknown.retryAfterSeconds()).isEqualTo(1);
                });
        assertThat(Problem.ofFailure(UnavailableException.overloaded(Text.plain("full")))
                        .type())
                .isEqualTo(ProblemType.OVERLOADED);
        assertThat(Problem.ofFailure(UnavailableException.overloaded(Text.plain("many"), 7))
                        .retryAfterSeconds())
                .isEqualTo(7);
        assertThat(Problem.ofFailure(UnavailableException.setAside()).retryAfterSeconds())
                .isEqualTo(60);
        assertThat(Problem.ofFailure(new IllegalStateException("a bug"))).isNull();
    }

    @Test
    void textIsEscaped() {
        String detail = "a \"quote\" \\ \n 恭喜";

        assertThat(new JsonObject(Problem.of(ProblemType.INFEASIBLE, Text.plain(detail))
                                .toJson(Language.ENGLISH))
                        .getString("detail"))
                .isEqualTo(detail);
    }

    @SuppressWarnings("unchecked")
    private static Object at(Map<String, Object> map, String... path) {
        Object value = map;
        for (String step : path) {
            value = ((Map<String, Object>) value).get(step);
        }
        return value;
    }
}
