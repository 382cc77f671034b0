package dev.hongbao.tools.bench;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.values.GroupId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

/** Sends of packets of five shares, as bytes on the wire, each by the next sender into the next group. */
final class HttpSends implements OpenLoop.Requests {
    private final List<String> tokens;
    private final String key = UUID.randomUUID().toString();

    /** @param config of the server that is to believe the tokens */
    HttpSends(HongbaoConfig config) throws IOException {
        this.tokens = HttpBed.signed(config, BenchPackets.SENDERS);
    }

    @Override
    public long count() {
        return Long.MAX_VALUE;
    }

    @Override
    public void write(long n, ByteBuffer to) {
        GroupId group = BenchPackets.GROUPS.get((int) (n % BenchPackets.GROUPS.size()));
        String body =
                "{\"group\":\"" + group.value() + "\",\"kind\":\"lucky\",\"asset\":\"CNY\",\"amount\":500,\"count\":5}";
        String request = "POST /v1/packets HTTP/1.1\r\nHost: hongbao\r\nAuthorization: Bearer "
                + tokens.get((int) (n % tokens.size())) + "\r\nContent-Type: application/json\r\nIdempotency-Key: "
                + key + "-" + n + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
        to.put(request.getBytes(StandardCharsets.US_ASCII));
    }
}
