package dev.hongbao.tools.bench;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.server.TokenRules;
import dev.hongbao.web.access.TokenSigner;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;

/** Claims as bytes on the wire; no user claims a packet twice. */
final class HttpClaims implements OpenLoop.Requests {
    private static final Duration TTL = Duration.ofHours(2);

    /** A prime, greater than the number of packets: each is met once before one is met again, in no order. */
    private static final long STRIDE = 2_147_483_647;

    private final byte[][] lines;
    private final byte[][] headers;
    private final boolean isSpread;

    private HttpClaims(byte[][] headers, List<PacketId> packets, boolean isSpread) {
        this.headers = headers;
        this.isSpread = isSpread;
        this.lines = packets.stream()
                .map(packet -> bytes("POST /v1/packets/" + packet + "/claims HTTP/1.1\r\n"))
                .toArray(byte[][]::new);
    }

    /**
     * What follows the request's line, for each user, with a token; made once, since a server remembers every token.
     *
     * @param config of the server that is to believe the tokens
     */
    static byte[][] headers(HongbaoConfig config, List<Caller> members) throws IOException {
        TokenSigner signer = new TokenSigner(
                TokenRules.secret(config.web().token(), config.engine().data()), null, null, Clock.systemUTC());
        return members.stream()
                .map(member -> bytes("Host: hongbao\r\nAuthorization: Bearer "
                        + signer.sign(member.user(), member.groups(), member.role(), TTL)
                        + "\r\nContent-Length: 0\r\n\r\n"))
                .toArray(byte[][]::new);
    }

    /** One packet after the other, each by all users: number n is by user n mod users on packet n / users. */
    static HttpClaims inTurn(byte[][] headers, List<PacketId> packets) {
        return new HttpClaims(headers, packets, false);
    }

    /** One claim on each packet, in no order. */
    static HttpClaims spread(byte[][] headers, List<PacketId> packets) {
        return new HttpClaims(headers, packets, true);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public long count() {
        return isSpread ? lines.length : (long) lines.length * headers.length;
    }

    @Override
    public void write(long n, ByteBuffer to) {
        long packet = isSpread ? n * STRIDE : n / headers.length;
        to.put(lines[(int) (packet % lines.length)]).put(headers[(int) (n % headers.length)]);
    }
}
