package dev.hongbao.fuzz;

import dev.hongbao.values.Caller.Role;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Claims and plays of users with names of every form, many at once, so that the scripts see them in one call: as fields, beside each other, and
 * beside the counts of a campaign. What was won is held against a model.
 */
final class ClaimsKind implements Kind {
    private static final String LETTERS = "01_aA";
    private static final String MORE = "01_aA:=|+-.~@";
    private static final int TOTAL = 3;
    private static final int A_PRODUCT = 1;

    private final World world;
    private final List<Prize> packets = new ArrayList<>();
    private final List<String> draws = new ArrayList<>();
    private final Map<String, String> userOfSlot = new ConcurrentHashMap<>();
    private final Map<String, String> slotOfUser = new ConcurrentHashMap<>();
    private final Map<String, Set<String>> counted = new ConcurrentHashMap<>();

    /** A packet. @param product of a pool; empty for what counts nothing */
    private record Prize(String packet, String product) {}

    ClaimsKind(World world) throws IOException {
        this.world = world;
        try (Line line = new Line(world.port())) {
            for (int count : new int[] {1, 2, 3, 10, 255, 256, 257, 1_000}) {
                JsonObject packet = new JsonObject()
                        .put("group", "family")
                        .put("kind", "lucky")
                        .put("asset", "CNY")
                        .put("amount", 10_000)
                        .put("count", count);
                packets.add(new Prize(world.made(line, "/v1/users/alice/packets", packet), ""));
            }
            JsonObject campaign = new JsonObject("{\"name\":\"Counts\",\"asset\":\"CNY\",\"budget\":10000000,"
                    + "\"endsAt\":\"2033-01-01T00:00:00Z\",\"pool\":{\"shares\":300,\"amount\":{\"from\":3000,\"to\":3000},"
                    + "\"livesSeconds\":86400},\"claiming\":{\"total\":" + TOTAL + ",\"aProduct\":" + A_PRODUCT + "}}");
            String pools = "/v1/campaigns/" + world.made(line, "/v1/campaigns", campaign) + "/pools";
            for (String product : List.of("0", "a", "a:0", "A/a", "_", "a", "1", "0:0:0")) {
                JsonObject pool = new JsonObject().put("product", product).put("group", "family");
                packets.add(new Prize(world.made(line, pools, pool), product));
            }
            JsonObject draw = new JsonObject(
                    "{\"name\":\"Names\",\"closesAt\":\"2033-01-01T00:00:00Z\",\"mode\":\"weights\","
                            + "\"limits\":{\"total\":5},\"fallback\":{\"name\":\"thanks\"},\"prizes\":[{\"name\":\"cash\",\"weight\":1,"
                            + "\"stock\":1000,\"perUser\":1,\"award\":{\"asset\":\"CNY\",\"amount\":1}},{\"name\":\"none\",\"weight\":9}]}");
            draws.add(world.made(line, "/v1/draws", draw));
        }
    }

    @Override
    public String name() {
        return "claims";
    }

    @Override
    public int share() {
        return 14;
    }

    @Override
    public int batch() {
        return 16;
    }

    @Override
    public void send(List<Input> inputs, Findings findings) throws IOException {
        try (Line line = new Line(world.port())) {
            for (Input input : inputs) {
                String user = user(input);
                Prize prize = input.pick(packets);
                boolean plays = input.oneIn(5);
                Request request = plays ? play(input, user) : claim(input, user, prize);
                line.send(request.bytes());
                Answer answer = line.read(false);
                String fault = answer == null ? "closed" : Oracle.fault(answer);
                if (fault == null && answer.status() < 300 && !plays) {
                    fault = won(prize, user, new JsonObject(answer.body()));
                }
                findings.count(input, answer == null ? "closed" : Integer.toString(answer.status()));
                if (fault != null) {
                    findings.found(input, fault, request.toString());
                }
            }
        }
    }

    private Request claim(Input input, String user, Prize prize) {
        return Request.of("POST", "/v1/packets/" + prize.packet + "/claims")
                .with("Authorization", "Bearer " + world.sign(user, Role.USER))
                .with("Prefer", input.oneIn(2) ? "respond-async" : "wait=0");
    }

    private Request play(Input input, String user) {
        return Request.of("POST", "/v1/draws/" + input.pick(draws) + "/plays")
                .with("Authorization", "Bearer " + world.sign(user, Role.USER))
                .with("Idempotency-Key", input.oneIn(3) ? user : input.number() + MORE)
                .with("Content-Type", "application/json")
                .body("{\"plays\":" + input.pick(1, 1, 2, 10) + "}");
    }

    /** Short ones are much the same as others; long ones are as long as may be. */
    private static String user(Input input) {
        StringBuilder user =
                new StringBuilder().append(LETTERS.charAt(input.random().nextInt(LETTERS.length())));
        int length = input.oneIn(20) ? 64 : 1 + input.random().nextInt(4);
        while (user.length() < length) {
            user.append(MORE.charAt(input.random().nextInt(MORE.length())));
        }
        return user.toString();
    }

    private String won(Prize prize, String user, JsonObject claim) {
        if (!user.equals(claim.getString("user"))) {
            return "another user's claim: " + claim;
        }
        String slot = prize.packet + " " + claim.getInteger("slot");
        String before = userOfSlot.putIfAbsent(slot, user);
        if (before != null && !before.equals(user)) {
            return "the slot is " + before + "'s: " + claim;
        }
        String had = slotOfUser.putIfAbsent(prize.packet + " " + user, slot);
        if (had != null && !had.equals(slot)) {
            return "a second slot, after " + had + ": " + claim;
        }
        if (prize.product.isEmpty()) {
            return null;
        }
        return exceeds(user, prize.packet, TOTAL) || exceeds(user + " " + prize.product, prize.packet, A_PRODUCT)
                ? "more than the campaign gives one user: " + claim
                : null;
    }

    private boolean exceeds(String counts, String packet, int most) {
        Set<String> won = counted.computeIfAbsent(counts, any -> ConcurrentHashMap.newKeySet());
        won.add(packet);
        return won.size() > most;
    }

    /** Each packet that could be claimed to its last share was, by as many as it has shares and no more: the books are looked at after all kinds. */
    @Override
    public void finish(Findings findings) {
        if (userOfSlot.size() != slotOfUser.size()) {
            findings.add("claims: " + slotOfUser.size() + " users have " + userOfSlot.size() + " slots");
        }
    }
}
