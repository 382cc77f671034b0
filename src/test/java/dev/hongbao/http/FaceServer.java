package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.Access;
import dev.hongbao.access.AuditLog;
import dev.hongbao.access.CallLog;
import dev.hongbao.access.RateLimits;
import dev.hongbao.access.RateLimits.Limit;
import dev.hongbao.access.Restrictions;
import dev.hongbao.access.TestKeys;
import dev.hongbao.access.TokenSigner;
import dev.hongbao.access.Tokens;
import dev.hongbao.config.AddressRange;
import dev.hongbao.config.ListenAddress;
import dev.hongbao.http.ConnectionCap.ClientAddresses;
import dev.hongbao.http.Contract.Operation;
import dev.hongbao.http.Exchange.HttpMetrics;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.HttpFace.SocketUpgrade;
import dev.hongbao.http.HttpSettings.Origins;
import dev.hongbao.ledger.Wallets;
import dev.hongbao.packet.UnservedPackets;
import dev.hongbao.page.DemoLogin;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.github.bucket4j.TimeMeter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The face over real HTTP without the services behind it, and a client for it. A request that would reach a service meets
 * null there, and so shows what a client sees of an unforeseen fault. Limits are small, so that tests need not wait.
 */
public final class FaceServer implements AutoCloseable {
    static final String CLAIMS = "/v1/packets/01939d1e-8c00-7000-8000-000000000001/claims";
    static final String SEND = "{\"group\":\"g\",\"kind\":\"lucky\",\"asset\":\"CNY\",\"amount\":100,\"count\":2}";
    static final int MAX_CONNECTIONS = 100;

    /** 127.0.0.1 is exempt. */
    static final int MAX_PER_ADDRESS = 5;

    private static final SocketUpgrade NO_SOCKETS = new SocketUpgrade() {
        @Override
        public void upgrade(HttpServerRequest request, Supplier<Runnable> opened, Consumer<Problem> refuse) {
            refuse.accept(Problem.of(ProblemType.STOPPING));
        }

        @Override
        public Future<Void> close() {
            return Future.succeededFuture();
        }
    };

    private static final byte[] SECRET = new byte[32];

    private final PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final HttpClient client = HttpClient.newHttpClient();
    private final Vertx vertx = Vertx.vertx();
    private final String deployment;
    private final int port;

    public FaceServer() throws Exception {
        this(List.of());
    }

    /** @param connectors who connects with the PROXY protocol; empty for anybody without */
    FaceServer(List<AddressRange> connectors) throws Exception {
        this(connectors, Duration.ofSeconds(30));
    }

    /** @param slow in which each 64 KiB of an answer must be taken */
    FaceServer(List<AddressRange> connectors, Duration slow) throws Exception {
        this(connectors, slow, null);
    }

    /** @param tls null for none */
    FaceServer(List<AddressRange> connectors, Duration slow, ListenAddress.@Nullable Tls tls) throws Exception {
        HttpSettings settings = new HttpSettings(
                new ListenAddress("127.0.0.1", 0, tls),
                128 * 1024,
                new HttpSettings.Timeouts(
                        Duration.ofMillis(1_500), // a machine that stands still for a while is no slow client
                        Duration.ofMillis(1_000),
                        Duration.ofSeconds(30),
                        Duration.ofSeconds(10),
                        slow,
                        Duration.ofSeconds(2)),
                new Origins(List.of("https://shop.example.com")),
                "",
                connectors);
        Contract contract = Contract.load();
        RateLimits rates = new RateLimits(
                new RateLimits.Settings(new Limit(1, 3), new Limit(1_000, 1_000), Limit.OFF, Limit.OFF, 100),
                TimeMeter.SYSTEM_NANOTIME);
        Access gate = new Access(
                new Tokens(TestKeys.settingsOf(SECRET), Clock.systemUTC()),
                rates,
                new CallsInFlight(6, 500, 50, 10_000),
                new Restrictions(null, null),
                settings.address().needsClientCertificate());
        PageFiles files = PageFiles.chat(List.of());
        AuditLog auditLog = new AuditLog(rows -> Future.succeededFuture(), meters);
        HttpMetrics metrics = HttpMetrics.of(meters, contract);
        ConnectionCap cap = new ConnectionCap(
                MAX_CONNECTIONS,
                MAX_PER_ADDRESS,
                ClientAddresses.onLoopback(List.of(AddressRange.parse("127.0.0.1"))),
                meters);
        Exchange.Audits audits = new CallLog(auditLog, 10_000).ofHttp(cap);
        DemoLogin demo = DemoLogin.open(new TokenSigner(SECRET, null, null, Clock.systemUTC()), Clock.systemUTC());
        Set<Integer> ports = ConcurrentHashMap.newKeySet();
        deployment = vertx.deployVerticle(
                        () -> new HttpVerticle(
                                settings,
                                () -> {
                                    HttpFace face = new HttpFace(
                                            vertx, settings, files, gate, audits, metrics, cap, NO_SOCKETS);
                                    return Future.succeededFuture(
                                            face.serve(contract, routes(face, rates, demo), Future::succeededFuture));
                                },
                                ports::add),
                        new DeploymentOptions().setInstances(2))
                .await(20, TimeUnit.SECONDS);
        assertThat(ports).as("two instances, one port").hasSize(1);
        port = ports.iterator().next();
    }

    private static Map<String, Route> routes(HttpFace face, RateLimits rates, DemoLogin demo) {
        Map<String, Route> routes = new HashMap<>();
        for (Operation operation : Contract.load().operations()) {
            routes.put(operation.id(), face.counted(call -> Objects.requireNonNull(null, "no service")));
        }
        routes.putAll(Wallets.routes(null, null, null, null, face));
        routes.putAll(UnservedPackets.routes(rates, face));
        routes.putAll(demo.routes(null, rates, 10_000));
        return routes;
    }

    public int port() {
        return port;
    }

    /** Begins to stop the face. */
    Future<Void> stop() {
        return vertx.undeploy(deployment);
    }

    @Override
    public void close() throws Exception {
        vertx.close().await(20, TimeUnit.SECONDS);
    }

    String metrics() {
        return meters.scrape();
    }

    Socket connect() throws Exception {
        Socket socket = new Socket("127.0.0.1", port);
        socket.setSoTimeout(10_000);
        return socket;
    }

    /** From an address of this machine: all of 127.0.0.0/8 is. */
    Socket connectFrom(String address) throws Exception {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(address, 0));
        socket.connect(new InetSocketAddress("127.0.0.1", port));
        socket.setSoTimeout(10_000);
        return socket;
    }

    /** Sends bytes as they are and reads until the server closes. */
    public String raw(String text) throws Exception {
        try (Socket socket = connect()) {
            write(socket, text);
            return readAll(socket);
        }
    }

    static void write(Socket socket, String text) throws Exception {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
    }

    static String readAll(Socket socket) throws Exception {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    public HttpResponse<String> send(String method, String path, String body) throws Exception {
        return send(request(path, "alice")
                .header("Content-Type", "application/json")
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body)));
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), BodyHandlers.ofString());
    }

    HttpRequest.Builder request(String path, String user) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .version(HttpClient.Version.HTTP_1_1)
                .timeout(Duration.ofSeconds(10))
                .header("Authorization", "Bearer " + token(user, Role.USER))
                .header("Idempotency-Key", "k1");
    }

    static String token(String user, Role role) {
        return new TokenSigner(SECRET, null, null, Clock.systemUTC())
                .sign(new UserId(user), List.of(new GroupId("g")), role, Duration.ofMinutes(5));
    }

    public static JsonObject assertProblem(HttpResponse<String> response, int status, String type) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
        JsonObject problem = new JsonObject(response.body());
        assertThat(problem.getString("type")).endsWith("/" + type);
        assertThat(problem.getInteger("status")).isEqualTo(status);
        return problem;
    }

    public static void assertProblem(String answer, int status, String type) {
        assertThat(answer)
                .matches("(?s)HTTP/1\\.[01] " + status + " .*")
                .contains("application/problem+json", "/" + type + "\"");
    }
}
