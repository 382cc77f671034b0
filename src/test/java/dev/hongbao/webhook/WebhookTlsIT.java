package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestAuthority;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Webhooks that lead to receivers on an inner network, whose certificates are signed by the company's own authority. */
@ExtendWith(Servers.class)
class WebhookTlsIT extends TestServerClient {
    @TempDir
    static Path directory;

    private static TestAuthority authority;

    @BeforeAll
    static void start(TestServers given) throws Exception {
        authority = new TestAuthority(Files.createDirectory(directory.resolve("ours")), "ours");
        serve(
                given,
                Map.of(
                        "webhooks.private-networks", "127.0.0.0/8",
                        "webhooks.tls-authority", authority.certificate().toString(),
                        "webhooks.max-wait", "150ms"));
    }

    private JsonObject create(String url) throws Exception {
        return json(post(null, "/v1/webhooks", UUID.randomUUID().toString(), new JsonObject().put("url", url)), 201);
    }

    @Test
    void whoShowsACertificateOfTheAuthorityForItsAddressIsTold() throws Exception {
        try (HookReceiver receiver = HookReceiver.secure(authority.certify("ip:127.0.0.1"))) {
            JsonObject made = create(receiver.url());

            String packet = send("lucky", 100, 1);

            receiver.untilTaken(packet, 1);
            assertThat(receiver.taken.get(0).isSignedBy(made.getString("secret")))
                    .isTrue();
        }
    }

    @Test
    void whoShowsAnotherIsToldNothingAndTheListOfDeliveriesSaysWhy() throws Exception {
        TestAuthority stranger = new TestAuthority(Files.createDirectory(directory.resolve("stranger")), "stranger");

        assertRefused(authority.certify("ip:127.0.0.2"), "its certificate is refused: No subject alternative names");
        assertRefused(stranger.certify("ip:127.0.0.1"), "its certificate is signed by nobody who is trusted");
        assertRefused(authority.certifyExpired("ip:127.0.0.1"), "its certificate is not valid at this time");
    }

    private void assertRefused(SSLContext shown, String why) throws Exception {
        try (HookReceiver receiver = HookReceiver.secure(shown)) {
            JsonObject made = create(receiver.url());
            send("lucky", 100, 1);
            Eventually.eventually(HookReceiver.SOON, () -> {
                List<JsonObject> deliveries = items(get(null, "/v1/webhooks/" + made.getString("id") + "/deliveries"));
                assertThat(deliveries).isNotEmpty();
                assertThat(deliveries.get(0).getBoolean("delivered")).isFalse();
                assertThat(deliveries.get(0).getString("error")).startsWith(why);
            });
            assertThat(receiver.attempts).isEmpty();
        }
    }
}
