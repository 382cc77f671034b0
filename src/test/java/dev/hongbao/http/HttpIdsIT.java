package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Ids with every character there is, in paths, queries, bodies and answers of the whole server. */
@ExtendWith(Servers.class)
class HttpIdsIT extends TestServerClient {
    /** Each character there is, in ids of sixteen. */
    private static final List<String> PARTS = Pattern.compile(".{1,16}")
            .matcher(IntStream.rangeClosed('!', '~')
                    .mapToObj(each -> String.valueOf((char) each))
                    .filter(each -> UserId.isValid("x" + each))
                    .collect(Collectors.joining()))
            .results()
            .map(MatchResult::group)
            .toList();

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of("limits.requests-per-second", "1000"));
    }

    /** Also with a backslash, a percent sign and a slash in it. */
    private static String id(String part) {
        return "@" + part + "\\%2F/;?";
    }

    private String path(String id) {
        return URLEncoder.encode(name(id), StandardCharsets.UTF_8);
    }

    @Test
    void aUserAndAGroupOfEveryCharacterAreNamedInUrlsAndAnswers() throws Exception {
        for (String part : PARTS) {
            // Given a user with money, a name, and a group
            String user = id(part);
            String inGroup = name(user);
            String key = UUID.randomUUID().toString();
            json(post(null, "/v1/accounts/" + path(user) + "/deposits", key, cny(10)), 201);
            json(
                    send(builder(null, "/v1/users/" + path(user) + "/profile")
                            .header("Content-Type", "application/json")
                            .PUT(BodyPublishers.ofString("{\"displayName\":\"M\"}"))),
                    200);

            // When the user sends into the group, for another one with such a name
            JsonObject packet =
                    packet("exclusive", 10, 1).put("group", inGroup).put("recipients", List.of(name("." + user)));
            HttpResponse<String> sent = send(builder(user, inGroup, "/v1/packets")
                    .header("Idempotency-Key", key)
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString(packet.encode())));
            String id = json(sent, 201).getString("id");
            HttpResponse<String> claimed = send(builder("." + user, inGroup, "/v1/packets/" + id + "/claims")
                    .POST(BodyPublishers.noBody()));

            // Then all that names them names them right
            assertThat(json(claimed, 201).getString("user")).isEqualTo(name("." + user));
            JsonObject packets = json(send(builder(user, inGroup, "/v1/groups/" + path(user) + "/events")), 200)
                    .getJsonObject("reset")
                    .getJsonArray("packets")
                    .getJsonObject(0);
            assertThat(packets.getString("group")).isEqualTo(inGroup);
            assertThat(packets.getJsonObject("profiles").fieldNames()).containsExactly(name(user));
            assertThat(items(get(null, "/v1/accounts/" + path("." + user) + "/balances"))
                            .get(0)
                            .getLong("amount"))
                    .isEqualTo(10);
            assertThat(items(get(null, "/v1/packets?group=" + path(user) + "&sender=" + path(user))))
                    .hasSize(1);
            json(get(null, "/v1/packets/" + id), 200);
        }
    }
}
