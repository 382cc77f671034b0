package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Call.Kind;
import dev.hongbao.tools.local.ApiClient;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A call that every server must refuse to a user, under every fault.
 *
 * @param path with {@code *} for a packet of the group
 */
record Attack(
        String name, String method, String path, @Nullable String body) {
    private static final String CLAIMS = "/v1/packets/*/claims";
    private static final String PACKETS = "/v1/packets";
    private static final String MONEY = "{\"asset\":\"CNY\",\"amount\":1}";

    private static final List<Attack> ALL = List.of(
            new Attack("claims-for-another", "POST", CLAIMS, "{\"user\":\"user-1\"}"),
            new Attack("claims-a-slot", "POST", CLAIMS, "{\"slot\":0}"),
            new Attack("claims-no-packet", "POST", "/v1/packets/01939d1e-8c00-7000-8000-000000000001/claims", null),
            new Attack("claims-a-redis-key", "POST", "/v1/packets/%7Bs0%7D:1-journal/claims", null),
            new Attack("half-of-a-body", "POST", PACKETS, "{\"group\":\"chaos\","),
            new Attack("a-deep-body", "POST", PACKETS, "[".repeat(20_000)),
            new Attack("two-amounts", "POST", PACKETS, send("1,\"amount\":100", "1")),
            new Attack("a-negative-amount", "POST", PACKETS, send("-1", "1")),
            new Attack("a-fraction", "POST", PACKETS, send("100.9", "1")),
            new Attack("beyond-long", "POST", PACKETS, send("9223372036854775808", "1")),
            new Attack("beyond-the-limit", "POST", PACKETS, send("100000000000000", "1")),
            new Attack("no-shares", "POST", PACKETS, send("100", "0")),
            new Attack("more-shares-than-cents", "POST", PACKETS, send("100", "101")),
            new Attack("more-than-it-has", "POST", PACKETS, send("100", "10")),
            new Attack("deposits", "POST", "/v1/accounts/mallory/deposits", MONEY),
            new Attack("withdraws-of-another", "POST", "/v1/accounts/user-1/withdrawals", MONEY),
            new Attack("looks-at-another", "GET", "/v1/accounts/user-1/balances", null),
            new Attack("reads-the-outbox", "GET", "/v1/outbox?limit=1000", null),
            new Attack("a-forged-cursor", "GET", "/v1/me/transfers?cursor=%27%3Bdrop%20table", null));

    private static String send(String amount, String count) {
        return "{\"group\":\"" + Api.GROUP + "\",\"kind\":\"lucky\",\"asset\":\"CNY\",\"amount\":" + amount
                + ",\"count\":" + count + "}";
    }

    /** A call of mallory, who is in the group and has no money. */
    static Call any(SplittableRandom random, String packet, int server) {
        return new Call(Kind.HOSTILE, "mallory", packet, "", random.nextInt(ALL.size()), server);
    }

    static Attack of(Call call) {
        return ALL.get((int) call.amount());
    }

    ApiClient.Request request(int port, String token, String packet) {
        String key = method.equals("POST") ? "hostile" : "";
        return new ApiClient.Request(port, method, path.replace("*", packet), token, key, body);
    }
}
