package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.ListenAddress;
import dev.hongbao.doctor.Check.Diagnosis;
import dev.hongbao.doctor.Checks;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.HttpApiClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestAuthority;
import dev.hongbao.testing.TestCertificate;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The whole server with certificates of its own: HTTP/2, HTTP/1.1 and wss, with clients of the JDK and with raw bytes. */
@ExtendWith(Servers.class)
class HttpTlsIT extends HttpApiClient {
    /** So many new connections show that a changed certificate stays. */
    private static final int SEEN = 5;

    @TempDir
    static Path directory;

    private static TestServer server;
    private static Path certificate;
    private static Path key;
    private static TestServers stores;
    private static TestAuthority authority;
    private static TestCertificate first;
    private static TestCertificate next;
    private static SSLContext ofUsers;
    private static HttpClient users;
    private static HttpClient host;

    @BeforeAll
    static void start(TestServers given) throws Exception {
        stores = given;
        authority = new TestAuthority(sub("authority"), "Our Own");
        first = authority.issue(sub("first"), "ip:127.0.0.1");
        next = authority.issue(sub("next"), "ip:127.0.0.1");
        certificate = Files.copy(first.certificate(), directory.resolve("certificate.pem"));
        key = Files.copy(first.key(), directory.resolve("key.pem"));
        ofUsers = authority.trusted(null);
        users = client(ofUsers).build();
        host = client(authority.trusted(next)).build();
        server = TestServer.start(
                stores,
                Map.of(
                        "http.tls-certificate", certificate.toString(),
                        "http.tls-key", key.toString(),
                        "http.tls-client-authority", authority.certificate().toString(),
                        "management.tls-certificate", first.certificate().toString(),
                        "management.tls-key", first.key().toString(),
                        "http.event-loops", "2"));
    }

    @Test
    void theDoctorAsksAManagementPortThatShowsItsCertificate() {
        Map<String, String> config = new HashMap<>(Map.of(
                "data.dir", directory.toString(),
                "management.port", Integer.toString(server.management().getPort()),
                "redis.url", stores.redisUrl(),
                "postgres.url", stores.postgresAppUrl(),
                "postgres.owner-url", stores.postgresOwnerUrl()));
        config.put("management.tls-certificate", first.certificate().toString());
        config.put("management.tls-key", key.toString());

        assertThat(Checks.examine(HongbaoConfig.of(config)))
                .extracting(Diagnosis::text)
                .contains("The server is ready");

        // When it shows another one than is configured here
        config.put("management.tls-certificate", authority.certificate().toString());

        assertThat(Checks.examine(HongbaoConfig.of(config)))
                .extracting(Diagnosis::text)
                .anyMatch(line -> line.startsWith("The server does not answer at https://"));
    }

    private static Path sub(String name) throws IOException {
        return Files.createDirectory(directory.resolve(name));
    }

    private static HttpClient.Builder client(SSLContext context) {
        return HttpClient.newBuilder().sslContext(context).connectTimeout(Duration.ofSeconds(10));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Override
    public URI base() {
        return URI.create("https://127.0.0.1:" + server.base().getPort());
    }

    @Override
    public byte[] secret() {
        return server.secret();
    }

    private static HttpResponse<String> call(HttpClient client, HttpRequest.Builder request) throws Exception {
        return client.send(request.timeout(Duration.ofSeconds(15)).build(), BodyHandlers.ofString());
    }

    private HttpRequest.Builder command(String user, String path, HttpRequest.BodyPublisher body) {
        return builder(user, path)
                .header("Idempotency-Key", UUID.randomUUID().toString())
                .header("Content-Type", "application/json")
                .POST(body);
    }

    private HttpRequest.Builder deposit() {
        return command(
                null,
                "/v1/accounts/" + name("sender") + "/deposits",
                BodyPublishers.ofString(cny(1_000).encode()));
    }

    private String packet(int shares) throws Exception {
        json(call(host, deposit()), 201);
        // Of a length that nobody tells before: over HTTP/2 no header says that there is a body.
        HttpRequest.BodyPublisher body = BodyPublishers.fromPublisher(
                BodyPublishers.ofString(packet("lucky", 1_000, shares).encode()));
        return json(call(users, command("sender", "/v1/packets", body)), 201).getString("id");
    }

    private HttpRequest.Builder claim(String user, String packet, HttpRequest.BodyPublisher body) {
        return builder(user, "/v1/packets/" + packet + "/claims").POST(body);
    }

    @Test
    void manyClaimOverOneConnectionOfHttp2() throws Exception {
        // Given
        String packet = packet(5);

        // When
        List<CompletableFuture<HttpResponse<String>>> asked = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            asked.add(users.sendAsync(
                    claim("user" + i, packet, BodyPublishers.noBody()).build(), BodyHandlers.ofString()));
        }

        // Then five of them have it all
        long sum = 0;
        int won = 0;
        for (CompletableFuture<HttpResponse<String>> each : asked) {
            HttpResponse<String> answer = each.get(15, TimeUnit.SECONDS);
            assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
            if (answer.statusCode() == 201) {
                sum += new JsonObject(answer.body()).getLong("amount");
                won++;
            } else {
                assertProblem(answer, 410, "drained");
            }
        }
        assertThat(won).isEqualTo(5);
        assertThat(sum).isEqualTo(1_000);
    }

    @Test
    void aRefusedBodyEndsItsStreamAndNotTheConnection() throws Exception {
        // Given a call that is answered later, on the one connection of a client
        HttpClient client = client(ofUsers).build();
        assertThat(call(client, builder("bob", "/v1/me/balances")).statusCode()).isEqualTo(200);
        CompletableFuture<HttpResponse<String>> poll = client.sendAsync(
                builder("bob", "/v1/groups/" + group + "/events?after=0")
                        .header("Prefer", "wait=20")
                        .build(),
                BodyHandlers.ofString());

        // When
        HttpResponse<String> tooLarge =
                call(client, command("bob", "/v1/packets", BodyPublishers.ofString("x".repeat(300_000))));

        // Then
        assertProblem(tooLarge, 413, "payload-too-large");
        packet(1);
        assertThat(poll.get(15, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    }

    @Test
    void http11IsThereForWhoAsksForIt() throws Exception {
        // Given
        String packet = packet(1);
        HttpClient old = client(ofUsers).version(HttpClient.Version.HTTP_1_1).build();

        // When
        HttpResponse<String> claimed = call(old, claim("bob", packet, BodyPublishers.noBody()));

        // Then
        assertThat(claimed.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
        assertThat(json(claimed, 201).getLong("amount")).isEqualTo(1_000);
        assertThat(call(users, claim("bob", packet, BodyPublishers.noBody())).body())
                .isEqualTo(claimed.body());
    }

    @Test
    void aServicesTokenNeedsItsCertificateToo() throws Exception {
        // When
        HttpResponse<String> refused = call(users, deposit());
        HttpResponse<String> allowed = call(host, deposit());

        // Then
        assertProblem(refused, 403, "forbidden");
        assertThat(new JsonObject(refused.body()).getString("detail")).contains("client certificate");
        assertThat(allowed.statusCode()).isEqualTo(201);

        // And over the socket, where a user needs none
        assertThat(firstFrame(users, token("shop", group, Role.SERVICE)).getString("type"))
                .isEqualTo("error");
        assertThat(firstFrame(host, token("shop", group, Role.SERVICE)).getString("type"))
                .isEqualTo("authenticated");
        assertThat(firstFrame(users, token("bob", group, Role.USER)).getString("type"))
                .isEqualTo("authenticated");
    }

    private JsonObject firstFrame(HttpClient client, String token) throws Exception {
        CompletableFuture<String> first = new CompletableFuture<>();
        WebSocket socket = client.newWebSocketBuilder()
                .subprotocols("hongbao.v1")
                .header("Origin", base().toString())
                .buildAsync(URI.create("wss://" + base().getAuthority() + "/v1/socket"), new WebSocket.Listener() {
                    @Override
                    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
                        first.complete(data.toString());
                        return null;
                    }
                })
                .get(15, TimeUnit.SECONDS);
        socket.sendText(
                new JsonObject()
                        .put("type", "auth")
                        .put("id", "1")
                        .put("token", token)
                        .encode(),
                true);
        try {
            return new JsonObject(first.get(15, TimeUnit.SECONDS));
        } finally {
            socket.abort();
        }
    }

    @Test
    void aCertificateIsChangedUnderLoadAndNoRequestIsLost() throws Exception {
        // Given requests on a connection that stays, and on new ones
        AtomicBoolean isOver = new AtomicBoolean();
        CompletableFuture<Integer> staying = CompletableFuture.supplyAsync(() -> {
            int answered = 0;
            for (; !isOver.get(); answered++) {
                assertThat(status(builder("bob", "/v1/me/balances"))).isEqualTo(200);
            }
            return answered;
        });
        X509Certificate before = shown();

        // When
        replace(certificate, next.certificate());
        replace(key, next.key());

        // Then
        eventually(() -> !shown().equals(before));
        for (int i = 0; i < SEEN; i++) {
            assertThat(shown()).isNotEqualTo(before);
        }
        assertThat(call(client(ofUsers).build(), builder("bob", "/v1/me/balances"))
                        .version())
                .isEqualTo(HttpClient.Version.HTTP_2);
        assertProblem(call(client(ofUsers).build(), deposit()), 403, "forbidden");
        isOver.set(true);
        assertThat(staying.get(15, TimeUnit.SECONDS)).isPositive();
    }

    /** As a careful operator does: the file is never half written. */
    private static void replace(Path file, Path by) throws IOException {
        Path draft = Files.copy(by, directory.resolve("draft.pem"));
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static int status(HttpRequest.Builder request) {
        try {
            int status = call(users, request).statusCode();
            return status == 429 ? 200 : status; // as a user's limit wants it
        } catch (Exception lost) {
            throw new AssertionError("a request was lost", lost);
        }
    }

    /** By a request on a connection of its own. */
    private X509Certificate shown() throws Exception {
        try (SSLSocket socket = (SSLSocket) ofUsers.getSocketFactory().createSocket("127.0.0.1", base().getPort())) {
            socket.setSoTimeout(10_000);
            FaceServer.write(socket, "GET /icon.svg HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            assertThat(FaceServer.readAll(socket)).startsWith("HTTP/1.1 200 OK");
            return (X509Certificate) socket.getSession().getPeerCertificates()[0];
        }
    }

    @Test
    void aKeyOfAnotherCertificateIsNotTaken() throws Exception {
        // Given
        Vertx vertx = Vertx.vertx();

        // Then
        try {
            assertThatThrownBy(() -> new ServerTls(
                                    vertx, "http", new ListenAddress.Tls(first.certificate(), next.key(), null))
                            .secure(new HttpServerOptions())
                            .await(15, TimeUnit.SECONDS))
                    .hasMessageContaining("http.tls-certificate and http.tls-key do not belong together");
            assertThatThrownBy(() -> new ServerTls(vertx, "http", new ListenAddress.Tls(first.key(), first.key(), null))
                            .secure(new HttpServerOptions())
                            .await(15, TimeUnit.SECONDS))
                    .hasMessageContaining("cannot be used");
        } finally {
            vertx.close().await(15, TimeUnit.SECONDS);
        }
    }

    @Test
    void theManagementPortHasACertificateToo() throws Exception {
        // Given
        int port = server.management().getPort();
        HttpRequest.Builder health = HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + "/health/ready"));

        // Then
        assertThat(call(users, health).statusCode()).isEqualTo(200);
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(FaceServer.readAll(socket)).doesNotContain("HTTP/");
        }
    }

    /** What is in flight on a connection keeps it from being closed as an idle one. */
    @Test
    void anAnswerThatIsResetInItsMiddleLeavesNothingInFlight() throws Exception {
        writeAuditLog();
        Logger root = (Logger) LoggerFactory.getLogger("dev.hongbao");
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        root.addAppender(log);
        List<RawHttp2> connections = new ArrayList<>();
        Map<String, String> options = Map.of(
                "http.tls-certificate", first.certificate().toString(),
                "http.tls-key", first.key().toString(),
                "http.idle-timeout", "1s");
        try (TestServer brief = TestServer.start(stores, options)) {
            for (String path : List.of("/openapi.yaml", "/v1/audit?limit=200", "/v1/audit/export")) {
                RawHttp2 connection = new RawHttp2(ofUsers, brief.base().getPort());
                connections.add(connection);
                resetInTheMiddle(connection, path);
            }

            // Then each is closed when it is idle
            for (RawHttp2 connection : connections) {
                assertThat(connection.endedBy()).isLessThanOrEqualTo(0);
            }
        } finally {
            root.detachAppender(log);
            for (RawHttp2 connection : connections) {
                connection.close();
            }
        }
        assertThat(log.list.stream().filter(line -> line.getLevel().isGreaterOrEqual(Level.WARN)))
                .isEmpty();
    }

    /** So that its pages and its export are long. */
    private static void writeAuditLog() {
        new Books(stores)
                .strings(
                        "select audit_append(array_agg('auditor'::text), array_agg('service'::text), array_agg(null::text),"
                                + " array_agg('request-' || n), array_agg('GET'::text), array_agg('/v1/audit'::text),"
                                + " array_agg(repeat('s', 2000)), array_agg(200::smallint), array_agg(null::text), array_agg(null::text),"
                                + " array_agg(1::bigint), array_agg(0::bigint))::text from generate_series(1, 1000) as n");
    }

    private void resetInTheMiddle(RawHttp2 connection, String path) throws IOException {
        // Given an answer that waits for its client to read
        String token = token("auditor", group, Role.SERVICE);
        connection.get(1, path, token);
        for (int read = 0; read < RawHttp2.WINDOW; ) {
            RawHttp2.Frame frame = connection.next();
            if (frame.stream() == 1) {
                assertThat(frame.flags() & RawHttp2.END_STREAM).isZero();
                read += frame.type() == RawHttp2.DATA ? frame.payload().length : 0;
            }
        }

        // When
        connection.frame(RawHttp2.RST_STREAM, 0, 1, (byte) 0, (byte) 0, (byte) 0, (byte) RawHttp2.CANCEL);
        connection.frame(RawHttp2.WINDOW_UPDATE, 0, 0, (byte) 0, (byte) 1, (byte) 0, (byte) 0);

        // Then the connection goes on
        connection.get(3, "/v1/commands", token);
        RawHttp2.Frame frame = connection.next();
        while (frame.stream() != 3 || (frame.flags() & RawHttp2.END_STREAM) == 0) {
            frame = connection.next();
        }
        assertThat(frame.type()).isEqualTo(RawHttp2.DATA);
    }
}
