package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Exposition;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The drill of connections. */
@ExtendWith(Servers.class)
class RunbookConnectionsDrillIT extends RunbookDrill {
    private static final int MOST = 3;

    /** Has a connection for each poll under way, and keeps it. */
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @BeforeAll
    static void serve(TestServers given) {
        serve(given, Map.of("http.max-connections", Integer.toString(MOST), "http.event-loops", "1"));
    }

    @Test
    void newConnectionsAreClosedWhenAllAreInUseAndNotWhenOneIsIdle() throws Exception {
        // Given as many polls that wait as there may be connections
        Exposition before = scrape();
        List<CompletableFuture<HttpResponse<String>>> polls = new ArrayList<>();
        for (int i = 0; i < MOST; i++) {
            polls.add(CLIENT.sendAsync(
                    builder("alice", "/v1/groups/" + group + "/events?after=0")
                            .version(HttpClient.Version.HTTP_1_1)
                            .header("Prefer", "wait=3")
                            .build(),
                    BodyHandlers.ofString()));
        }
        Eventually.eventually(
                SOON, () -> assertThat(scrape().sum("hongbao_http_polls")).isEqualTo(MOST));

        // When one more comes
        try (Socket more = new Socket("127.0.0.1", base().getPort())) {
            assertThat(more.getInputStream().read()).isEqualTo(-1);
        }

        // Then
        fires("HongbaoConnectionsClosed", before);

        // When the connections are idle
        for (CompletableFuture<HttpResponse<String>> poll : polls) {
            assertThat(poll.get().statusCode()).isEqualTo(200);
        }
        Exposition after = scrape();
        assertThat(after.sum("hongbao_queue_fill_ratio", "\"connections\"")).isEqualTo(1);

        // Then one makes room, and all is well
        assertThat(get("bob", "/v1/me/balances").statusCode()).isEqualTo(200);
        clears("HongbaoConnectionsClosed", after);
        clears("HongbaoQueueFull");
        doctorNamesNot("a-queue-is-nearly-full");
    }
}
