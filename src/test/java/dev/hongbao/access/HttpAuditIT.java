package dev.hongbao.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** An auditor sees who did what and who was refused, and can rebuild the books from the exports alone. */
@ExtendWith(Servers.class)
class HttpAuditIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of("http.answer-timeout", "2s"));
    }

    @AfterAll
    static void theBooksAreClean() {
        new Books(servers).assertClean();
    }

    private static String key() {
        return UUID.randomUUID().toString();
    }

    private JsonObject deposit(String user, long amount, String reference) throws Exception {
        JsonObject body = cny(amount).put("reference", reference).put("reason", "Paid by card");
        return json(post(null, "/v1/accounts/" + name(user) + "/deposits", key(), body), 201);
    }

    private HttpResponse<String> reverse(String user, String transfer, JsonObject body) throws Exception {
        return post(null, "/v1/accounts/" + name(user) + "/transfers/" + transfer + "/reverse", key(), body);
    }

    /** All pages. */
    private List<JsonObject> all(String path) throws Exception {
        List<JsonObject> all = new ArrayList<>();
        String next = "";
        while (next != null) {
            JsonObject page = json(get(null, path + (path.contains("?") ? "&" : "?") + "limit=7" + next), 200);
            all.addAll(items(page));
            next = page.getString("next") == null ? null : "&cursor=" + page.getString("next");
        }
        return all;
    }

    private List<JsonObject> rows(String actor) throws Exception {
        return all("/v1/audit").stream()
                .filter(row -> actor.equals(row.getString("actor")))
                .toList();
    }

    @Test
    void theHostFindsWhatItDidByItsOwnName() throws Exception {
        // Given
        JsonObject transfer = deposit("alice", 100, "order-" + name("1"));

        // Then by the reference, and from the transfer
        List<JsonObject> found = all("/v1/commands?reference=order-" + name("1"));
        assertThat(found).hasSize(1);
        JsonObject command = found.get(0);
        assertThat(command.getString("id")).isEqualTo(transfer.getString("command"));
        assertThat(command.getJsonObject("actor"))
                .isEqualTo(new JsonObject().put("user", name("shop")).put("role", "service"));
        assertThat(command.getString("reason")).isEqualTo("Paid by card");
        assertThat(command.getJsonArray("transfers").getJsonObject(0).getString("id"))
                .isEqualTo(transfer.getString("id"));
        assertThat(json(get(null, "/v1/commands/" + transfer.getString("command")), 200))
                .isEqualTo(command);
        // And the user sees the transfer alone
        assertThat(items(get("alice", "/v1/me/transfers")).get(0).fieldNames())
                .doesNotContain("command", "reference", "reason");
        assertProblem(get("alice", "/v1/commands/" + transfer.getString("command")), 403, "forbidden");
        assertProblem(get(null, "/v1/commands/" + UUID.randomUUID()), 404, "not-found");
    }

    @Test
    void nullIsAsAbsentAndAReasonHasTwoHundredCharacters() throws Exception {
        assertThat(deposit("nina", 1, null).getValue("reference")).isNull();
        assertThat(deposit("nina", 1, null).getString("reason")).isEqualTo("Paid by card");
        JsonObject emoji = cny(1).put("reason", "🧧".repeat(200));
        assertThat(json(post(null, "/v1/accounts/nina/deposits", key(), emoji), 201)
                        .getString("reason"))
                .hasSize(400);
    }

    @Test
    void aUserMayNotNoteAnything() throws Exception {
        deposit("noah", 100, null);
        JsonObject packet = packet("lucky", 100, 2).put("reference", "mine");

        assertProblem(post("noah", "/v1/packets", key(), packet), 403, "not-eligible");
    }

    @Test
    void aReversalIsAnsweredAndToldAndFound() throws Exception {
        // Given
        String latest = json(get(null, "/v1/outbox?after=latest"), 200).getString("next");
        JsonObject deposit = deposit("rita", 100, null);
        JsonObject why = new JsonObject().put("reason", "twice").put("reference", "ticket-1");

        // When
        JsonObject reversal = json(reverse("rita", deposit.getString("id"), why), 201);

        // Then
        assertThat(reversal.getString("kind")).isEqualTo("reversal");
        assertThat(reversal.getString("reverses")).isEqualTo(deposit.getString("id"));
        assertThat(reversal.getString("reference")).isEqualTo("ticket-1");
        assertThat(balance("rita")).isZero();
        assertProblem(reverse("rita", deposit.getString("id"), why), 409, "already-reversed");
        assertProblem(reverse("rita", "9999999999999999999", why), 404, "not-found");
        assertProblem(reverse("rita", deposit.getString("id"), new JsonObject()), 400, "invalid-request");
        eventually(() -> items(get(null, "/v1/outbox?limit=1000&after=" + latest)).stream()
                .filter(event -> event.getString("type").equals("transfer.reversal"))
                .map(event -> event.getJsonObject("data"))
                .anyMatch(data -> data.getString("reverses").equals(deposit.getString("id"))
                        && data.getString("direction").equals("debit")
                        && data.getString("user").equals(name("rita"))
                        && data.getString("kind").equals("deposit")
                        && data.getString("reason").equals("twice")));
    }

    @Test
    void whatTheHostDoesIsInTheLog() throws Exception {
        // When
        HttpResponse<String> done = send(builder(null, "/v1/accounts/" + name("vera") + "/deposits")
                .header("Idempotency-Key", key())
                .header("Content-Type", "application/json")
                .header("X-Request-Id", "trace-7")
                .POST(BodyPublishers.ofString(cny(5).put("reference", "order-7").encode())));
        HttpResponse<String> poor = post(null, "/v1/accounts/" + name("vera") + "/withdrawals", key(), cny(50));

        // Then
        assertThat(done.statusCode()).isEqualTo(201);
        assertProblem(poor, 402, "insufficient-funds");
        eventually(() -> rowsAbout("vera").size() == 2);
        List<JsonObject> rows = rows(name("shop"));
        JsonObject deposit = rows.get(0);
        assertThat(deposit.getString("method")).isEqualTo("POST");
        assertThat(deposit.getString("route")).isEqualTo("/v1/accounts/{user}/deposits");
        assertThat(deposit.getString("subject")).isEqualTo(name("vera"));
        assertThat(deposit.getInteger("status")).isEqualTo(201);
        assertThat(deposit.getString("reference")).isEqualTo("order-7");
        assertThat(deposit.getString("request"))
                .isEqualTo("trace-7")
                .isEqualTo(done.headers().firstValue("x-request-id").orElseThrow());
        assertThat(deposit.getString("role")).isEqualTo("service");
        assertThat(deposit.getString("address")).isNull();
        assertThat(rows.get(1).getInteger("status")).isEqualTo(402);
        assertThat(rows.get(1).getString("problem")).isEqualTo("insufficient-funds");
        assertThat(rows.get(1).getString("request"))
                .as("the request had none: it is made")
                .isEqualTo(poor.headers().firstValue("x-request-id").orElseThrow())
                .isEqualTo(new JsonObject(poor.body()).getString("requestId"));

        // And the last row's id is a cursor
        List<JsonObject> all = all("/v1/audit");
        String last = all.get(all.size() - 1).getString("id");
        assertThat(items(get(null, "/v1/audit?cursor=" + last))).doesNotContainAnyElementsOf(all);
    }

    @Test
    void whatCannotBeWrittenIsNotAnsweredAndWhoIsRefusedDoesNotWait() throws Exception {
        String path = "/v1/campaigns/" + UUID.randomUUID() + "/pause";
        try (Connection other = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = other.createStatement()) {
            // Given somebody who keeps the log
            other.setAutoCommit(false);
            statement.execute("select pg_advisory_xact_lock(hashtextextended('audit_log', 0))");

            // When
            long begun = System.nanoTime();
            assertProblem(get("wendy", "/v1/audit"), 403, "forbidden");
            money("wendy", "deposits", 5, key(), 201);
            Duration both = Duration.ofNanos(System.nanoTime() - begun);
            HttpResponse<String> change = send(builder(null, path).POST(BodyPublishers.noBody()));

            // Then who is refused, and money that a command tells of, do not wait
            assertThat(both).isLessThan(Duration.ofSeconds(2));
            assertProblem(change, 503, "unknown");
            assertThat(change.headers().firstValue("Retry-After")).contains("1");
            assertThat(pauses()).isZero();
        }

        // And the same call again is answered, and is written then; of the first one nobody knows
        assertProblem(send(builder(null, path).POST(BodyPublishers.noBody())), 404, "not-found");
        assertThat(pauses()).isPositive();
    }

    private long pauses() {
        return new Books(servers)
                .longOf("select count(*) from audit_log where route = '/v1/campaigns/{campaign}/pause'");
    }

    private List<String> rowsAbout(String user) {
        return new Books(servers).strings("select route from audit_log where subject = '" + name(user) + "'");
    }

    @Test
    void whoIsRefusedIsInTheLogAndNothingThatIsSecret() throws Exception {
        // Given a packet with a passcode
        String packet = send(packet("equal", 10, 2).put("passcode", "hidden-word"));
        String forged = token("mallory", group, Role.SERVICE).replaceAll("\\.[^.]*$", ".forged-signature");

        // When
        assertProblem(claim("guess", packet, "wrong-word"), 403, "wrong-passcode");
        assertProblem(get("curious", "/v1/accounts/" + name("guess") + "/balances"), 403, "forbidden");
        for (int i = 0; i < 5; i++) {
            HttpRequest.Builder request = HttpRequest.newBuilder(base().resolve("/v1/me/balances"))
                    .header("Authorization", "Bearer " + forged)
                    .GET();
            assertProblem(send(request), 401, "unauthenticated");
        }

        // Then
        eventually(() -> rows(name("guess")).stream()
                .anyMatch(row ->
                        "wrong-passcode".equals(row.getString("problem")) && packet.equals(row.getString("subject"))));
        eventually(() -> rows(name("curious")).stream().anyMatch(row -> row.getInteger("status") == 403));
        eventually(() -> all("/v1/audit").stream()
                .anyMatch(row -> row.getInteger("status") == 401
                        && row.getString("actor") == null
                        && "127.0.0.1".equals(row.getString("address"))));
        String everything =
                new Books(servers).strings("select l::text from audit_log as l").toString();
        assertThat(everything).doesNotContain("wrong-word", "hidden-word", "forged-signature", forged);
        assertThat(all("/v1/audit").stream().filter(row -> row.getInteger("status") == 401))
                .as("five of one address are one row, until their minute is over")
                .hasSizeLessThanOrEqualTo(4);
    }

    @Test
    void theLogIsExportedForASpreadsheet() throws Exception {
        // Given
        deposit("wang", 1, "=cmd()");
        eventually(() -> rowsAbout("wang").size() == 1);
        List<JsonObject> all = rows(name("shop"));
        String at = all.get(0).getString("at");

        // When
        HttpResponse<String> csv = get(null, "/v1/audit/export?format=csv&from=" + at);
        HttpResponse<String> none = get(null, "/v1/audit/export?to=2020-01-01T00:00:00Z");

        // Then
        assertThat(csv.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/csv");
        assertThat(csv.body()).startsWith("\ufeffid,at,actor,");
        assertThat(csv.body().lines().toList().get(1)).contains(name("shop"), "'=cmd()");
        assertThat(none.body()).isEmpty();
        HttpResponse<byte[]> zipped = HttpClient.newHttpClient()
                .send(
                        builder(null, "/v1/audit/export?format=csv&from=" + at)
                                .header("Accept-Encoding", "gzip")
                                .build(),
                        HttpResponse.BodyHandlers.ofByteArray());
        assertThat(zipped.headers().firstValue("Content-Encoding")).contains("gzip");
        assertThat(new GZIPInputStream(new ByteArrayInputStream(zipped.body())).readAllBytes())
                .asString(StandardCharsets.UTF_8)
                .startsWith("\ufeffid,at,actor,")
                .contains("'=cmd()");
        assertProblem(get(null, "/v1/audit?from=yesterday"), 400, "invalid-request");
        assertProblem(get("alice", "/v1/audit"), 403, "forbidden");
    }

    /** From the exports alone: each wallet's transfers add up to its balance, and what commands moved to what came in and went out. */
    @Test
    void anAuditorRebuildsEveryBalance() throws Exception {
        // Given some business
        for (String user : List.of("ada", "ben", "cy")) {
            deposit(user, 1_000, null);
        }
        String packet = json(post("ada", "/v1/packets", key(), packet("lucky", 500, 2)), 201)
                .getString("id");
        json(claim("ben", packet), 201);
        json(claim("cy", packet), 201);
        money("cy", "withdrawals", 100, key(), 201);
        String claimed = items(get("ben", "/v1/me/transfers")).stream()
                .filter(transfer -> transfer.getString("kind").equals("claim"))
                .findFirst()
                .orElseThrow()
                .getString("id");
        json(reverse("ben", claimed, new JsonObject().put("reason", "cheated")), 201);

        // When an auditor reads the commands, and the transfers of everybody they name or who has claimed
        Set<String> users = new TreeSet<>(Set.of(name("ben"), name("cy")));
        Map<String, Long> outside = new HashMap<>();
        for (JsonObject command : all("/v1/commands")) {
            for (Object each : command.getJsonArray("transfers")) {
                JsonObject transfer = (JsonObject) each;
                long amount = transfer.getLong("amount");
                for (String side : List.of("from", "to")) {
                    JsonObject account = transfer.getJsonObject(side);
                    if (account.getString("kind").equals("wallet")) {
                        users.add(account.getString("owner"));
                    } else if (account.getString("kind").equals("source")) {
                        outside.merge(transfer.getString("asset"), side.equals("from") ? amount : -amount, Long::sum);
                    }
                }
            }
        }
        long inside = 0;
        for (String user : users) {
            long sum = all("/v1/accounts/" + user + "/transfers").stream()
                    .mapToLong(transfer -> transfer.getString("direction").equals("credit")
                            ? transfer.getLong("amount")
                            : -transfer.getLong("amount"))
                    .sum();
            long balance = items(get(null, "/v1/accounts/" + user + "/balances")).stream()
                    .mapToLong(each -> each.getLong("amount"))
                    .sum();
            assertThat(sum).as(user).isEqualTo(balance);
            inside += balance;
        }

        // Then the rest is in packets of other tests that are open
        long held = new Books(servers).longOf("select coalesce(sum(balance), 0) from account where kind = 'escrow'");
        assertThat(outside).containsOnly(Map.entry("CNY", inside + held));
    }
}
