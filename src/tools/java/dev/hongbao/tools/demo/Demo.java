package dev.hongbao.tools.demo;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.profile.Profile;
import dev.hongbao.tools.demo.DemoClient.Answer;
import dev.hongbao.tools.demo.DemoPlan.PlannedPacket;
import dev.hongbao.web.access.TokenSigner;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** The scenario; call it on an event loop, where everything of it happens. */
public final class Demo {
    private static final int MEMBERS = 200;
    private static final int STRANGERS = 5;
    private static final int DOUBLE_CLICKERS = 20;
    private static final int LATECOMERS = 10;
    private static final long DEPOSIT = 100_000;
    private static final long POLL_MILLIS = 100;
    private static final Duration REFUND_LIMIT = Duration.ofSeconds(15);
    private static final Duration TOKEN_TTL = Duration.ofHours(1);

    private final Vertx vertx;
    private final DemoClient client;
    private final DemoTally tally = new DemoTally();
    private final String service;
    private final List<String> members;
    private final Map<String, String> tokens = new HashMap<>();
    private final List<String> strangers;
    private final List<PlannedPacket> plannedPackets;
    private int sent;
    private int drained;
    private int refunded;
    private long refundedAmount;
    private long[] sample = {};

    /**
     * @param port of a server without rate limits
     * @param packets how many to send
     */
    public Demo(Vertx vertx, int port, TokenSigner signer, int packets) {
        this.vertx = vertx;
        this.client = new DemoClient(vertx, port);
        this.service = signer.sign(new UserId("backend"), Set.of(), Role.SERVICE, TOKEN_TTL);
        this.members =
                IntStream.rangeClosed(1, MEMBERS).mapToObj(i -> "member-" + i).toList();
        this.strangers = IntStream.rangeClosed(1, STRANGERS)
                .mapToObj(i -> "stranger-" + i)
                .toList();
        for (String member : members) {
            tokens.put(
                    member,
                    signer.sign(
                            new UserId(member),
                            Set.of(new GroupId(DemoPlan.GROUP)),
                            Role.USER,
                            TOKEN_TTL,
                            new Profile(DemoPlan.nameOf(members.indexOf(member)), null)));
        }
        for (String stranger : strangers) {
            tokens.put(
                    stranger,
                    signer.sign(new UserId(stranger), Set.of(new GroupId("elsewhere")), Role.USER, TOKEN_TTL));
        }
        this.plannedPackets = DemoPlan.of(packets, members);
    }

    /**
     * Plays the scenario to its end.
     *
     * @param progress hears how many packets are done
     */
    public Future<DemoResult> run(IntConsumer progress) {
        DemoScene scene = new DemoScene(vertx, client, tally, service, members, this::token);
        Future<Void> done = giveMoney();
        List<String> expiring = new ArrayList<>();
        for (int i = 0; i < plannedPackets.size(); i++) {
            PlannedPacket planned = plannedPackets.get(i);
            int number = i + 1;
            done = done.compose(before -> sendAndRace(planned, expiring)).map(raced -> {
                progress.accept(number);
                return null;
            });
        }
        return done.compose(all -> awaitRefunds(expiring, System.nanoTime() + REFUND_LIMIT.toNanos()))
                .compose(all -> new DemoCampaign(scene).run())
                .compose(campaign -> new DemoRain(scene)
                        .run()
                        .compose(rain -> client.close()
                                .map(new DemoResult(
                                        new DemoResult.Packets(sent, drained, refunded, refundedAmount),
                                        new DemoResult.Claims(
                                                tally.claims(),
                                                tally.claimsPerSecond(),
                                                tally.latencyMicros(50),
                                                tally.latencyMicros(99),
                                                tally.answers()),
                                        campaign,
                                        rain,
                                        sample,
                                        List.copyOf(tally.faults())))));
    }

    private Future<Void> giveMoney() {
        JsonObject money = new JsonObject().put("asset", "CNY").put("amount", DEPOSIT);
        return Future.all(members.stream()
                        .map(member -> client.post("/v1/accounts/" + member + "/deposits", service, money)
                                .onSuccess(answer -> tally.expect(201, answer, "deposit of " + member)))
                        .toList())
                .mapEmpty();
    }

    private Future<Void> sendAndRace(PlannedPacket planned, List<String> expiring) {
        return client.post("/v1/packets", token(planned.sender()), planned.body())
                .compose(answer -> {
                    tally.expect(201, answer, "send by " + planned.sender());
                    if (answer.status() != 201) {
                        return Future.succeededFuture();
                    }
                    sent++;
                    String packet = answer.body().getString("id");
                    if (planned.expires()) {
                        expiring.add(packet);
                    }
                    return race(packet, planned);
                });
    }

    /** Everybody at once, some twice; then some again, late; then the books of this packet. */
    private Future<Void> race(String packet, PlannedPacket planned) {
        long begun = System.nanoTime();
        List<Future<Void>> claims = new ArrayList<>();
        for (int i = 0; i < members.size(); i++) {
            claims.add(claim(packet, members.get(i), planned));
            if (i % (MEMBERS / DOUBLE_CLICKERS) == 0) {
                claims.add(claim(packet, members.get(i), planned));
            }
        }
        strangers.forEach(stranger -> claims.add(claim(packet, stranger, planned)));
        return Future.all(claims)
                .compose(all -> {
                    List<Future<Void>> late = new ArrayList<>();
                    for (int i = 0; i < LATECOMERS; i++) {
                        late.add(claim(packet, members.get(i), planned));
                    }
                    return Future.all(late);
                })
                .compose(all -> {
                    tally.raced(System.nanoTime() - begun);
                    return client.get("/v1/packets/" + packet + "/claims?limit=200", token(members.get(0)));
                })
                .map(page -> {
                    checkClaims(packet, planned, page.body());
                    return null;
                });
    }

    private Future<Void> claim(String packet, String user, PlannedPacket planned) {
        JsonObject body = planned.passcode() == null ? null : new JsonObject().put("passcode", planned.passcode());
        return client.post("/v1/packets/" + packet + "/claims", token(user), body)
                .map(answer -> {
                    tally.claimed(packet, user, answer);
                    return null;
                });
    }

    private void checkClaims(String packet, PlannedPacket planned, JsonObject page) {
        JsonArray items = page.getJsonArray("items");
        int shares = planned.body().getInteger("count");
        int expected = Math.min(shares, planned.eligible());
        long total = 0;
        for (int i = 0; i < items.size(); i++) {
            total += items.getJsonObject(i).getLong("amount", 0L);
        }
        if (items.size() != expected) {
            tally.fault("packet " + packet + ": " + items.size() + " claims, expected " + expected);
        }
        if (expected == shares) {
            drained++;
            if (total != planned.body().getLong("amount")) {
                tally.fault("packet " + packet + ": claims add up to " + total);
            }
            if (sample.length == 0) {
                sample = IntStream.range(0, items.size())
                        .mapToLong(i -> items.getJsonObject(i).getLong("amount"))
                        .toArray();
            }
        }
    }

    private Future<Void> awaitRefunds(List<String> waiting, long deadlineNanos) {
        if (waiting.isEmpty()) {
            return Future.succeededFuture();
        }
        if (System.nanoTime() > deadlineNanos) {
            tally.fault(waiting.size() + " packets are not refunded");
            return Future.succeededFuture();
        }
        List<String> left = new ArrayList<>();
        return Future.all(waiting.stream()
                        .map(packet -> client.get("/v1/packets/" + packet, token(members.get(0)))
                                .onSuccess(view -> noteRefund(packet, view, left)))
                        .toList())
                .compose(all -> {
                    Promise<Void> later = Promise.promise();
                    vertx.setTimer(
                            POLL_MILLIS,
                            tick -> awaitRefunds(left, deadlineNanos).onComplete(later));
                    return later.future();
                });
    }

    private void noteRefund(String packet, Answer view, List<String> left) {
        if (view.body().getString("status", "").equals("refunded")) {
            refunded++;
            refundedAmount += view.body().getLong("amount")
                    - view.body().getJsonObject("claimed").getLong("amount");
        } else {
            left.add(packet);
        }
    }

    private String token(String user) {
        return tokens.getOrDefault(user, "");
    }
}
