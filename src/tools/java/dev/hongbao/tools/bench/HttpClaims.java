package dev.hongbao.tools.bench;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.packet.PacketId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Claims as bytes on the wire; no user claims a packet twice. */
final class HttpClaims implements OpenLoop.Requests {
    /** A prime, greater than the number of packets: each is met once before one is met again, in no order. */
    private static final long STRIDE = 2_147_483_647;

    private final byte[][] lines;
    private final byte[][] headers;
    private final Order order;
    private final int perPacket;

    private enum Order {
        IN_TURN,
        SPREAD,
        ACROSS
    }

    private HttpClaims(byte[][] headers, List<PacketId> packets, Order order, int perPacket) {
        this.headers = headers;
        this.order = order;
        this.perPacket = perPacket;
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
        return HttpBed.signed(config, members).stream()
                .map(token ->
                        bytes("Host: hongbao\r\nAuthorization: Bearer " + token + "\r\nContent-Length: 0\r\n\r\n"))
                .toArray(byte[][]::new);
    }

    /** One packet after the other, each by all users: number n is by user n mod users on packet n / users. */
    static HttpClaims inTurn(byte[][] headers, List<PacketId> packets) {
        return new HttpClaims(headers, packets, Order.IN_TURN, headers.length);
    }

    /** One claim on each packet, in no order. */
    static HttpClaims spread(byte[][] headers, List<PacketId> packets) {
        return new HttpClaims(headers, packets, Order.SPREAD, 1);
    }

    /** All packets side by side: one claim on each, then a second one on each by somebody else, until each has so many. */
    static HttpClaims across(byte[][] headers, List<PacketId> packets, int claims) {
        if (claims > headers.length) {
            throw new IllegalArgumentException("a packet is claimed once by each user at the most");
        }
        return new HttpClaims(headers, packets, Order.ACROSS, claims);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public long count() {
        return (long) lines.length * perPacket;
    }

    @Override
    public void write(long n, ByteBuffer to) {
        long packet = switch (order) {
                    case IN_TURN -> n / headers.length;
                    case SPREAD -> n * STRIDE;
                    case ACROSS -> n;
                }
                % lines.length;
        long user = order == Order.ACROSS ? packet * perPacket + n / lines.length : n;
        to.put(lines[(int) packet]).put(headers[(int) (user % headers.length)]);
    }
}
