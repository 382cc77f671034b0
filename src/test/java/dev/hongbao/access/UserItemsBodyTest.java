package dev.hongbao.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract;
import dev.hongbao.http.Language;
import dev.hongbao.http.Problem;
import dev.hongbao.http.ProblemType;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Schema;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.StrictJson;
import dev.hongbao.values.Text;
import dev.hongbao.values.TooManyCallsException;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Items that a backend sends for its users: how they are read, and how each is answered. */
class UserItemsBodyTest {
    private static final Instant END = Instant.parse("2035-01-01T00:00:00Z");
    private static final Caller SHOP =
            new Caller(new UserId("shop"), Set.of(new GroupId("staff")), Role.SERVICE, END, Map.of("tier", "own"), END);
    private static final String PACKET = "01939d1e-8c00-7000-8000-000000000001";
    private static final Schema CLAIM = Contract.load().itemsOf("claimMany", "claims");
    private static final UserItemsBody ITEMS = new UserItemsBody(CLAIM, "claims", "claim", Runnable::run);

    private static JsonArray items(String... items) {
        String list =
                "{\"claims\": [" + String.join(", ", items).replace('\'', '"').replace("$packet", PACKET) + "]}";
        return StrictJson.COMMAND.decode(list).getJsonArray("claims");
    }

    private static List<JsonObject> outcomes(JsonArray items, Language language, UserItemsBody.UserCall call) {
        Future<String> answer = ITEMS.outcomes(SHOP, items, language, call);
        assertThat(answer.succeeded()).isTrue();
        return new JsonObject(answer.result())
                .getJsonArray("items").stream().map(JsonObject.class::cast).toList();
    }

    private static String kind(JsonObject outcome) {
        String type = outcome.getJsonObject("problem").getString("type");
        return type.substring(type.lastIndexOf('/') + 1);
    }

    /** Each user's name is what happens to its claim. */
    private static Future<Reply> byName(Caller user, JsonObject item, Future<Void> begun) {
        return switch (user.user().value()) {
            case "winner" -> Future.succeededFuture(Reply.json(201, "{\"slot\":7}"));
            case "again" -> Future.succeededFuture(Reply.json(200, "{\"slot\":8}"));
            case "late" -> Future.succeededFuture(Reply.problem(Problem.of(ProblemType.DRAINED)));
            case "crowded" ->
                Future.failedFuture(UnavailableException.overloaded(Text.of("overloaded.claims-come"), 9));
            case "frozen" -> Future.failedFuture(new RefusedException(Refusal.FROZEN, Text.of("wallet.frozen")));
            case "fast" -> throw new TooManyCallsException(Reason.RATE, Text.of("rate.wait", 3), 3);
            default -> Future.failedFuture(new IllegalStateException("a bug"));
        };
    }

    @Test
    void eachItemIsAnsweredInItsPlaceAsItsOwnCallWouldBe() {
        // When
        List<JsonObject> all = outcomes(
                items(
                        "{'user': 'winner', 'packet': '$packet'}",
                        "{'user': 'late', 'packet': '$packet'}",
                        "{'user': 'crowded', 'packet': '$packet'}",
                        "{'user': 'frozen', 'packet': '$packet'}",
                        "{'user': 'fast', 'packet': '$packet'}",
                        "{'user': 'a b', 'packet': '$packet'}",
                        "{'user': 'unlucky', 'packet': '$packet'}",
                        "{'user': 'again', 'packet': '$packet'}"),
                Language.ENGLISH,
                UserItemsBodyTest::byName);

        // Then
        assertThat(all)
                .extracting(outcome -> outcome.getInteger("status"))
                .containsExactly(201, 410, 503, 403, 429, 400, 500, 200);
        assertThat(all.get(0).getJsonObject("claim")).isEqualTo(new JsonObject("{\"slot\": 7}"));
        assertThat(all.get(7).getJsonObject("claim")).isEqualTo(new JsonObject("{\"slot\": 8}"));
        assertThat(all.subList(1, 7))
                .extracting(UserItemsBodyTest::kind)
                .containsExactly(
                        "drained", "overloaded", "frozen", "too-many-requests", "invalid-request", "internal-error");
        assertThat(all.get(2).getJsonObject("problem").getInteger("retryAfterSeconds"))
                .isEqualTo(9);
        assertThat(all.get(4).getJsonObject("problem").getInteger("retryAfterSeconds"))
                .isEqualTo(3);
        assertThat(all.get(3).getJsonObject("problem").containsKey("retryAfterSeconds"))
                .isFalse();
    }

    @Test
    void aProblemIsToldInTheLanguageOfTheBackend() {
        JsonArray late = items("{'user': 'late', 'packet': '$packet'}");

        String english = outcomes(late, Language.ENGLISH, UserItemsBodyTest::byName)
                .get(0)
                .getJsonObject("problem")
                .getString("title");
        String chinese = outcomes(late, Language.CHINESE, UserItemsBodyTest::byName)
                .get(0)
                .getJsonObject("problem")
                .getString("title");

        assertThat(english).isNotEqualTo(chinese).isASCII();
        assertThat(chinese).containsPattern("\\p{IsHan}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "7 | #/claims/1",
                "null | #/claims/1",
                "[] | #/claims/1",
                "{'packet': '$packet'} | #/claims/1/user",
                "{'user': 'bob'} | #/claims/1/packet",
                "{'user': 'bob', 'packet': 'the last one'} | #/claims/1/packet",
                "{'user': 'bob', 'packet': '$packet', 'passcode': ''} | #/claims/1/passcode",
                "{'user': 'bob', 'packet': '$packet', 'groups': 'family'} | #/claims/1/groups",
                "{'user': 'bob', 'packet': '$packet', 'groups': ['a b']} | #/claims/1/groups/0",
                "{'user': 'bob', 'packet': '$packet', 'traits': {'tier': 1}} | #/claims/1/traits/tier",
                "{'user': 'bob', 'packet': '$packet', 'role': 'service'} | #/claims/1/role",
            })
    void aMalformedItemIsRefusedByItselfAndByItsPlace(String malformed, String place) {
        String good = "{'user': 'winner', 'packet': '$packet'}";

        List<JsonObject> all = outcomes(items(good, malformed, good), Language.ENGLISH, UserItemsBodyTest::byName);

        assertThat(all).extracting(outcome -> outcome.getInteger("status")).containsExactly(201, 400, 201);
        assertThat(all.get(1).getJsonObject("problem").getJsonArray("errors"))
                .extracting(fault -> ((JsonObject) fault).getString("pointer"))
                .contains(place);
    }

    /** Nothing of the backend's own token is its users': neither groups nor traits, role or time of issue. */
    @Test
    void aUserHasTheGroupsAndTraitsOfTheItemAndNoMore() {
        List<Caller> users = new ArrayList<>();

        outcomes(
                items(
                        "{'user': 'bob', 'packet': '$packet', 'groups': ['family', 'family', '/a'],"
                                + " 'traits': {'tier': 'gold'}}",
                        "{'user': 'carl', 'packet': '$packet', 'groups': [], 'traits': null}"),
                Language.ENGLISH,
                (user, item, all) -> {
                    users.add(user);
                    return Future.succeededFuture(Reply.json(201, "{}"));
                });

        assertThat(users)
                .containsExactly(
                        new Caller(
                                new UserId("bob"),
                                Set.of(new GroupId("family"), new GroupId("/a")),
                                Role.USER,
                                END,
                                Map.of("tier", "gold"),
                                null),
                        new Caller(new UserId("carl"), Set.of(), Role.USER, END));
    }

    /** So that they share calls of the stores. */
    @Test
    void everyItemIsBegunBeforeTheFirstIsAnswered() {
        Promise<Reply> later = Promise.promise();
        List<String> begun = new ArrayList<>();

        Future<String> answer = ITEMS.outcomes(
                SHOP,
                items("{'user': 'a', 'packet': '$packet'}", "{'user': 'b', 'packet': '$packet'}"),
                Language.ENGLISH,
                (user, item, all) -> {
                    begun.add(user.user().value());
                    return later.future();
                });

        assertThat(begun).containsExactly("a", "b");
        assertThat(answer.isComplete()).isFalse();
        later.complete(Reply.json(201, "{}"));
        assertThat(answer.result())
                .isEqualTo("{\"items\":[{\"status\":201,\"claim\":{}},{\"status\":201,\"claim\":{}}]}");
    }

    @Test
    void theLoopDoesOtherWorkBetweenThePartsOfALongList() {
        // Given
        Queue<Runnable> turns = new ArrayDeque<>();
        List<Future<Void>> all = new ArrayList<>();
        UserItemsBody inTurns = new UserItemsBody(CLAIM, "claims", "claim", turns::add);
        JsonArray many = items(IntStream.range(0, 150)
                .mapToObj(i -> "{'user': 'u" + i + "', 'packet': '$packet'}")
                .toArray(String[]::new));

        // When
        Future<String> answer = inTurns.outcomes(SHOP, many, Language.ENGLISH, (user, item, begun) -> {
            all.add(begun);
            return Future.succeededFuture(Reply.json(201, "\"" + user.user().value() + "\""));
        });

        // Then the loop gets its turn after some items, and the next part follows
        assertThat(all).hasSize(64);
        turns.remove().run();
        assertThat(all).hasSize(128).noneMatch(Future::isComplete);
        assertThat(answer.isComplete()).isFalse();
        turns.remove().run();

        // Then the outcomes are in the order of the items
        assertThat(all).hasSize(150).allMatch(Future::succeeded);
        assertThat(turns).isEmpty();
        assertThat(new JsonObject(answer.result()).getJsonArray("items"))
                .extracting(outcome -> ((JsonObject) outcome).getString("claim"))
                .containsExactlyElementsOf(
                        IntStream.range(0, 150).mapToObj(i -> "u" + i).toList());
    }
}
