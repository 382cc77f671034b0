package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.hongbao.doctor.Checks;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Exposition;
import dev.hongbao.testing.InstalledProgram;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A scrape of a server at work. */
@ExtendWith(Servers.class)
class MetricsIT extends TestServerClient {
    private static final Duration SOON = Duration.ofSeconds(20);

    /** Mostly more than this process may open files. */
    private static final int CONNECTIONS = 1_000_000;

    @BeforeAll
    static void serve(TestServers given) {
        serve(given, Map.of("shards", "4", "http.max-connections", Integer.toString(CONNECTIONS)));
    }

    /** As Prometheus itself asks, where its tool is installed. */
    @Test
    void promtoolFindsNoFault(@TempDir Path directory) throws Exception {
        Path promtool = InstalledProgram.assume("promtool", "prometheus");

        // Given
        claim("alice", send("equal", 100, 1));
        String text =
                send(HttpRequest.newBuilder(URI.create(managed("/metrics")))).body();

        // When
        Path said = directory.resolve("said");
        int exit = new ProcessBuilder(promtool.toString(), "check", "metrics")
                .redirectInput(
                        Files.writeString(directory.resolve("metrics"), text).toFile())
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start()
                .waitFor();

        // Then
        assertThat(exit).as(Files.readString(said)).isZero();
    }

    @Test
    void latenciesAreHistogramsOfTheSameBucketsThatAddUpOverServers() throws Exception {
        // Given
        claim("alice", send("equal", 100, 1));

        // Then, once what ends after the answer is counted, too
        Eventually.eventually(SOON, () -> {
            Exposition metrics = scrape();
            for (String series : new String[] {
                "hongbao_claim_accepting_seconds",
                "hongbao_claim_settling_seconds",
                "hongbao_http_request_seconds route=\"claim\"",
                "hongbao_sql_statement_seconds pool=\"requests\"",
                "hongbao_script_seconds script=\"claim\"",
                "hongbao_journal_settlement_seconds"
            }) {
                String name = series.split(" ")[0];
                String label = series.substring(name.length()).strip();
                assertThat(metrics.families()).as(series).containsKey(name);
                assertThat(metrics.families().get(name).type()).as(series).isEqualTo("histogram");
                assertThat(metrics.sum(name + "_bucket", label, "le=\"10.0\""))
                        .as(series)
                        .isPositive();
                assertThat(metrics.sum(name + "_bucket", label, "le=\"+Inf\""))
                        .as(series)
                        .isEqualTo(metrics.sum(name + "_count", label));
            }
            assertThat(metrics.families().values())
                    .noneMatch(family -> family.labels().contains("quantile"));
        });
    }

    /** Of rules and panels, {@code RunbookDrillIT} looks for every metric. */
    @Test
    void eachShardIsSeen() {
        Eventually.eventually(SOON, () -> {
            Exposition metrics = scrape();
            for (int shard = 0; shard < 2; shard++) {
                String label = "shard=\"" + shard + "\"";
                assertThat(metrics.sum("hongbao_shard_owned", label)).isEqualTo(1);
                assertThat(metrics.sum("hongbao_shard_epoch", label)).isPositive();
            }
            assertThat(metrics.names()).contains("process_uptime_seconds");
        });
    }

    @Test
    void connectionsAreHeldAgainstAsManyAsAreTaken() throws Exception {
        int taken = Checks.connections(CONNECTIONS);
        try (Socket one = new Socket("127.0.0.1", base().getPort());
                Socket two = new Socket("127.0.0.1", base().getPort())) {
            Eventually.eventually(SOON, () -> {
                Exposition metrics = scrape();
                double open = metrics.sum("hongbao_http_connections");
                assertThat(open).isGreaterThanOrEqualTo(2);
                assertThat(metrics.sum("hongbao_queue_fill_ratio", "\"connections\""))
                        .isCloseTo(open / taken, within(1e-9));
            });
        }
    }

    @Test
    void anAnswerNamesItsRequestAsTheCallerDoesAndAProblemToo() throws Exception {
        String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        String parent = "00-" + trace + "-00f067aa0ba902b7-01";

        assertThat(idOf("X-Request-Id", "order-7", "traceparent", parent)).isEqualTo("order-7");
        assertThat(idOf("traceparent", parent)).isEqualTo(trace);
        for (String malformed : new String[] {"\"},{\"", "a b", "x".repeat(65), "抢"}) {
            assertThat(idOf("X-Request-Id", URLEncoder.encode(malformed, StandardCharsets.UTF_8) + "%"))
                    .as(malformed)
                    .matches("[0-9a-f]{12}-[0-9a-z]+");
        }
        assertThat(idOf("accept", "*/*")).isNotEqualTo(idOf("accept", "*/*"));
    }

    /** Of an answer that is a problem, which says the same. */
    private String idOf(String... headers) throws Exception {
        HttpResponse<String> answer = send(builder("alice", "/v1/packets/00000000-0000-7000-8000-000000000000")
                .headers(headers));
        String id = answer.headers().firstValue("X-Request-Id").orElseThrow();
        assertProblem(answer, 404, "not-found");
        assertThat(new JsonObject(answer.body()).getString("requestId")).isEqualTo(id);
        return id;
    }

    private static Exposition scrape() {
        return Exposition.of(URI.create(managed("/")));
    }
}
