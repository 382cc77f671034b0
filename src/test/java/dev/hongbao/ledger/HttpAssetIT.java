package dev.hongbao.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Assets as a backend declares them and a client reads them, on the whole server. */
@ExtendWith(Servers.class)
class HttpAssetIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of("assets.declared", "CNY:2:¥,JPY:0:円"));
    }

    private HttpResponse<String> declare(String user, String body) throws Exception {
        return post(user, "/v1/assets", UUID.randomUUID().toString(), new JsonObject(body));
    }

    private HttpResponse<String> deposit(String asset, long amount) throws Exception {
        return post(
                null,
                "/v1/accounts/" + name("ann") + "/deposits",
                UUID.randomUUID().toString(),
                new JsonObject().put("asset", asset).put("amount", amount));
    }

    @Test
    void aStartDeclaresWhatItsOptionNames() throws Exception {
        JsonObject assets = json(get("ann", "/v1/assets"), 200);

        List<String> codes = assets.getJsonArray("items").stream()
                .map(item -> ((JsonObject) item).getString("code"))
                .toList();
        assertThat(codes).contains("CNY", "JPY").doesNotContain("POINTS");
        assertThat(json(get("ann", "/v1/assets/JPY"), 200))
                .isEqualTo(new JsonObject("""
                        {"code": "JPY", "scale": 0, "symbol": "円", "senders": "everybody",
                         "caps": {"packet": null, "share": null, "senderDay": null}}
                        """)
                        .put(
                                "declaredAt",
                                json(get("ann", "/v1/assets/JPY"), 200).getString("declaredAt")));
    }

    @Test
    void anAssetIsDeclaredChangedAndHeldTo() throws Exception {
        // Given
        String yuan =
                "{\"code\": \"YUAN\", \"scale\": 2, \"symbol\": \"¥\", \"caps\": {\"share\": 200, \"packet\": null}}";
        HttpResponse<String> made = declare(null, yuan);
        assertThat(made.headers().firstValue("Location")).contains("/v1/assets/YUAN");
        JsonObject declared = json(made, 201);

        // When, Then
        assertThat(json(declare(null, yuan), 200)).isEqualTo(declared);
        assertProblem(declare("ann", yuan), 403, "forbidden");
        assertProblem(declare(null, yuan.replace("2,", "3,")), 409, "asset-differs");
        assertProblem(deposit("YAUN", 1_000), 422, "unknown-asset");
        assertProblem(get("ann", "/v1/assets/YAUN"), 404, "not-found");
        json(deposit("YUAN", 1_000), 201);
        JsonObject send = packet("lucky", 1_000, 4).put("asset", "YUAN");
        assertProblem(post("ann", "/v1/packets", UUID.randomUUID().toString(), send), 422, "above-cap");
        JsonObject packet = json(post("ann", "/v1/packets", UUID.randomUUID().toString(), send.put("count", 5)), 201);
        assertThat(packet.getLong("max")).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"code\": \"cny\", \"scale\": 2, \"symbol\": \"¥\"}",
                "{\"code\": \"X\", \"scale\": 10, \"symbol\": \"¥\"}",
                "{\"code\": \"X\", \"scale\": 2, \"symbol\": \"\"}",
                "{\"code\": \"X\", \"scale\": 2, \"symbol\": \"x y\"}",
                "{\"code\": \"X\", \"scale\": 2, \"symbol\": \"¥\", \"senders\": \"me\"}",
                "{\"code\": \"X\", \"scale\": 2, \"symbol\": \"¥\", \"caps\": {\"share\": 0}}",
                "{\"code\": \"X\", \"scale\": 2, \"symbol\": \"¥\", \"caps\": {\"week\": 5}}",
                "{\"code\": \"X\", \"symbol\": \"¥\"}"
            })
    void nonsenseIsRefused(String body) throws Exception {
        assertProblem(declare(null, body), 400, "invalid-request");
    }
}
