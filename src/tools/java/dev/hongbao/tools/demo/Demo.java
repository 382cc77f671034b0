package dev.hongbao.tools.demo;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.tools.local.ApiClient;
import dev.hongbao.tools.local.ApiClient.Answer;
import dev.hongbao.tools.local.Threads;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The scenario of the demo, as a host application would play it: without a definite answer it repeats a request with its key. So one of
 * several servers may end meanwhile. Confined to one thread; blocking.
 */
public final class Demo {
    private static final int MEMBERS = 200;
    private static final int STRANGERS = 5;
    private static final int SENDERS = 12;
    private static final int RECIPIENTS = 20;
    private static final String GROUP = "demo";
    private static final String ELSEWHERE = "elsewhere";
    private static final String PASSCODE = "恭喜发财";
    private static final int SHORT_EXPIRY_SECONDS = 2;
    private static final int ONE_IN_CLAIMS_TWICE = 10;
    private static final int LATECOMERS = 10;
    private static final int THREADS = 64;
    private static final long DEPOSIT = 100_000;

    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration END_LIMIT = Duration.ofSeconds(15);
    private static final Duration LENGTH = Duration.ofHours(1);
    private static final long POLL_MILLIS = 100;

    private final ApiClient api = new ApiClient(ANSWER_LIMIT);
    private final int port;
    private final String service;
    private final List<String> members =
            IntStream.rangeClosed(1, MEMBERS).mapToObj(i -> "member-" + i).toList();
    private final List<String> strangers =
            IntStream.rangeClosed(1, STRANGERS).mapToObj(i -> "stranger-" + i).toList();
    private final Map<String, String> tokens = new HashMap<>();
    private final int packets;

    private final Map<String, Long> outcomes = new TreeMap<>();
    private final Map<String, String> firstClaims = new HashMap<>();
    private final List<Map.Entry<String, Long>> rows = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();
    private long drained;

    /** @param faults empty if all is well */
    public record Result(List<Map.Entry<String, Long>> rows, List<String> faults) {}

    /** @param eligible number of members who may claim */
    private record PlannedPacket(String sender, JsonObject body, int eligible) {
        int shares() {
            return body.getInteger("count");
        }
    }

    private record Claimed(String user, Answer answer) {}

    /** @param port of a server without rate limits */
    public Demo(int port, TokenSigner signer, int packets) {
        this.port = port;
        this.packets = packets;
        this.service = signer.sign(new UserId("backend"), Set.of(), Role.SERVICE, LENGTH);
        members.forEach(member -> tokens.put(member, sign(signer, member, GROUP)));
        strangers.forEach(stranger -> tokens.put(stranger, sign(signer, stranger, ELSEWHERE)));
    }

    private static String sign(TokenSigner signer, String user, String group) {
        return signer.sign(new UserId(user), Set.of(new GroupId(group)), Role.USER, LENGTH);
    }

    /** All kinds in turn. One kind has more shares than members, so it ends with a refund. */
    private PlannedPacket planned(int i) {
        List<String> named = members.subList(MEMBERS - RECIPIENTS, MEMBERS);
        JsonObject body = switch (i % 6) {
            case 0 -> packet("lucky", 8_888, 88).put("split", "double-mean");
            case 1 -> packet("lucky", 6_666, 66).put("split", "inflate");
            case 2 -> packet("lucky", 5_200, 52).put("split", "even-luck").put("max", 1_000);
            case 3 -> packet("equal", 5_000, 50);
            case 4 -> packet("exclusive", 2_000, RECIPIENTS / 2).put("recipients", new JsonArray(List.copyOf(named)));
            default ->
                packet("lucky", 10_000, MEMBERS + 50)
                        .put("split", "double-mean")
                        .put("passcode", PASSCODE)
                        .put("expiresInSeconds", SHORT_EXPIRY_SECONDS);
        };
        return new PlannedPacket(
                members.get(i % SENDERS),
                body.put("greeting", "第 " + (i + 1) + " 个红包"),
                i % 6 == 4 ? RECIPIENTS : MEMBERS);
    }

    private static JsonObject packet(String kind, long amount, int count) {
        return new JsonObject()
                .put("group", GROUP)
                .put("asset", "CNY")
                .put("kind", kind)
                .put("amount", amount)
                .put("count", count);
    }

    /** Plays it to the end. */
    public Result run() throws Exception {
        List<Callable<JsonObject>> deposits = new ArrayList<>();
        members.forEach(
                member -> deposits.add(() -> make("/v1/accounts/" + member + "/deposits", service, money(DEPOSIT))));
        Threads.all(THREADS, deposits);
        List<String> expiring = new ArrayList<>();
        for (int i = 0; i < packets; i++) {
            PlannedPacket packet = planned(i);
            String id =
                    make("/v1/packets", token(packet.sender()), packet.body()).getString("id");
            race(id, packet);
            if (packet.shares() > packet.eligible()) {
                expiring.add(id);
            }
        }
        long refunded = 0;
        for (String id : expiring) {
            JsonObject packet = awaitRefund(id);
            refunded +=
                    packet.getLong("amount") - packet.getJsonObject("claimed").getLong("amount");
        }
        row("packets sent", packets);
        row("  drained", drained);
        row("  refunded", expiring.size());
        row("  refunded, fen", refunded);
        row(
                "claims answered",
                outcomes.values().stream().mapToLong(count -> count).sum());
        outcomes.forEach((outcome, count) -> row("  " + outcome, count));
        return new Result(rows, faults);
    }

    /** All members claim at once, some twice, and strangers; then some claim late. */
    private void race(String id, PlannedPacket packet) throws Exception {
        String passcode = packet.body.getString("passcode");
        List<String> crowd = new ArrayList<>();
        for (int i = 0; i < MEMBERS; i++) {
            crowd.addAll(Collections.nCopies(i % ONE_IN_CLAIMS_TWICE == 0 ? 2 : 1, members.get(i)));
        }
        crowd.addAll(strangers);
        claimAll(id, crowd, passcode);
        claimAll(id, members.subList(0, LATECOMERS), passcode);

        JsonArray items = get("/v1/packets/" + id + "/claims?limit=200", token(members.get(0)))
                .getJsonArray("items");
        long[] amounts = IntStream.range(0, items.size())
                .mapToLong(i -> items.getJsonObject(i).getLong("amount", 0L))
                .toArray();
        int expected = Math.min(packet.shares(), packet.eligible());
        expect(amounts.length == expected, id + ": " + amounts.length + " claims, expected " + expected);
        if (expected == packet.shares()) {
            long total = Arrays.stream(amounts).sum();
            expect(total == packet.body().getLong("amount"), id + ": claims add up to " + total);
            drained++;
        }
    }

    /** Claims at once; every answer to one user and packet must be the same claim. */
    private void claimAll(String packet, List<String> users, @Nullable String passcode) throws Exception {
        JsonObject body = passcode == null ? null : new JsonObject().put("passcode", passcode);
        List<Callable<Claimed>> claims = new ArrayList<>();
        for (String user : users) {
            claims.add(() -> new Claimed(user, call("POST", "/v1/packets/" + packet + "/claims", token(user), body)));
        }
        for (Claimed each : Threads.all(THREADS, claims)) {
            String outcome = switch (each.answer.status()) {
                case 201 -> "claimed";
                case 200 -> "already claimed";
                default -> each.answer.problem();
            };
            outcomes.merge(outcome, 1L, Long::sum);
            if (each.answer.status() < 300) {
                String claim = each.answer.body().encode();
                String first = firstClaims.putIfAbsent(packet + " " + each.user, claim);
                expect(first == null || first.equals(claim), each.user + " got " + first + " and " + claim);
            }
        }
    }

    /** Waits for a packet's refund; its lack is a fault. @return the packet */
    private JsonObject awaitRefund(String id) throws Exception {
        long until = System.nanoTime() + END_LIMIT.toNanos();
        JsonObject view;
        do {
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
            view = get("/v1/packets/" + id, token(members.get(0)));
        } while (!view.getString("status", "").equals("refunded") && System.nanoTime() - until < 0);
        expect(view.getString("status", "").equals("refunded"), id + " is not refunded: " + view);
        return view;
    }

    private static JsonObject money(long amount) {
        return new JsonObject().put("asset", "CNY").put("amount", amount);
    }

    private JsonObject get(String path, String token) throws Exception {
        return call("GET", path, token, null).body();
    }

    /** @throws IOException if it is refused */
    private JsonObject make(String path, String token, JsonObject body) throws Exception {
        return call("POST", path, token, body).done();
    }

    private Answer call(String method, String path, String token, @Nullable JsonObject body) throws Exception {
        return api.callAgain(
                new ApiClient.Request(
                        port,
                        method,
                        path,
                        token,
                        body == null ? "" : UUID.randomUUID().toString(),
                        body == null ? null : body.encode()),
                PATIENCE);
    }

    private void row(String name, long value) {
        rows.add(Map.entry(name, value));
    }

    private void expect(boolean isRight, String fault) {
        if (!isRight) {
            faults.add(fault);
        }
    }

    private String token(String user) {
        return tokens.getOrDefault(user, "");
    }
}
