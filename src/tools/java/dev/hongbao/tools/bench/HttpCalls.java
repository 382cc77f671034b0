package dev.hongbao.tools.bench;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.tools.local.ApiClient;
import dev.hongbao.values.Caller;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.PacketId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.UUID;
import java.util.function.LongFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Requests for {@link HttpLoad}. */
final class HttpCalls {
    private static final Duration TTL = Duration.ofHours(2);
    private static final String ASYNC = "Prefer: respond-async\r\n";
    private static final String ID = "{\"id\":\"";
    private static final int CLAIMS_OF_A_LIFE = 5;

    private HttpCalls() {}

    /** Makes a member's {@code Host} and {@code Authorization}. Tokens are made once, since a server remembers each. */
    static byte[][] headers(HongbaoConfig config, List<Caller> members) throws IOException {
        TokenSigner signer = ApiClient.signer(config);
        return members.stream()
                .map(member -> signer.sign(member.user(), member.groups(), member.role(), TTL))
                .map(token -> bytes("Host: hongbao\r\nAuthorization: Bearer " + token + "\r\n"))
                .toArray(byte[][]::new);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Claims. No user claims a packet twice.
     *
     * @param perPacket claims on each packet, at most one per user
     * @param inTurn whether a packet gets all its claims before the next one; else each packet gets one, then each a second
     * @param async whether the answer comes when a claim is accepted; else when it is settled
     */
    private record Claims(byte[][] lines, byte[][] headers, int perPacket, boolean inTurn, byte[] end)
            implements HttpLoad.Requests {
        @Override
        public long count() {
            return (long) lines.length * perPacket;
        }

        @Override
        public void write(long n, ByteBuffer to) {
            long packet = inTurn ? n / perPacket : n % lines.length;
            long user = inTurn ? n % perPacket : packet * perPacket + n / lines.length;
            to.put(lines[(int) packet])
                    .put(headers[(int) (user % headers.length)])
                    .put(end);
        }
    }

    private static HttpLoad.Requests claims(
            byte[][] headers, List<PacketId> packets, int perPacket, boolean inTurn, boolean async) {
        if (perPacket > headers.length) {
            throw new IllegalArgumentException("a user claims a packet once");
        }
        byte[][] lines = packets.stream()
                .map(packet -> bytes("POST /v1/packets/" + packet + "/claims HTTP/1.1\r\n"))
                .toArray(byte[][]::new);
        return new Claims(lines, headers, perPacket, inTurn, bytes((async ? ASYNC : "") + "Content-Length: 0\r\n\r\n"));
    }

    /** All users claim one packet after the other. */
    static HttpLoad.Requests inTurn(byte[][] headers, List<PacketId> packets, boolean async) {
        return claims(headers, packets, headers.length, true, async);
    }

    /** All packets get their claims side by side. */
    static HttpLoad.Requests across(byte[][] headers, List<PacketId> packets, int perPacket) {
        return claims(headers, packets, perPacket, false, false);
    }

    /** Calls of a backend, each with claims of the next members on one packet after the other. */
    static final class Batches implements HttpLoad.Requests {
        private static final String SETTLED = "{\"status\":201,";

        private final byte[] begin;
        private final List<Caller> members;
        private final GroupId group;
        private final List<PacketId> packets;
        private final int size;

        /** Answered calls with an item that is not settled. */
        private long incomplete;

        /** @param backend its headers; @param packets of the group; @param size claims of a call, a part of the members' number */
        Batches(byte[] backend, List<Caller> members, GroupId group, List<PacketId> packets, int size) {
            begin = bytes("POST /v1/claims HTTP/1.1\r\n" + new String(backend, StandardCharsets.US_ASCII)
                    + "Content-Type: application/json\r\nContent-Length: ");
            this.members = members;
            this.group = group;
            this.packets = packets;
            this.size = size;
        }

        @Override
        public long count() {
            return (long) packets.size() * members.size() / size;
        }

        @Override
        public void write(long n, ByteBuffer to) {
            long first = n * size;
            PacketId packet = packets.get((int) (first / members.size()));
            String body = IntStream.range(0, size)
                    .mapToObj(i -> members.get((int) ((first + i) % members.size())))
                    .map(member -> "{\"user\":\"" + member.user() + "\",\"packet\":\"" + packet + "\",\"groups\":[\""
                            + group + "\"]}")
                    .collect(Collectors.joining(",", "{\"claims\":[", "]}"));
            to.put(begin).put(bytes(body.length() + "\r\n\r\n" + body));
        }

        @Override
        public void answered(HttpLoad.Connection connection) {
            if (connection.body().split(Pattern.quote(SETTLED), -1).length != size + 1) {
                incomplete++;
            }
        }

        /** For {@link Trial#loadFault}. */
        String troubles() {
            return incomplete == 0 ? "" : incomplete + " calls have a claim that is not settled";
        }
    }

    /** One request for ever, by the next user each time. @param line the request's line, such as {@code GET /path} */
    static HttpLoad.Requests same(byte[][] headers, String line) {
        byte[] begin = bytes(line + " HTTP/1.1\r\n");
        byte[] end = bytes("Content-Length: 0\r\n\r\n");
        return (n, to) -> to.put(begin).put(headers[(int) (n % headers.length)]).put(end);
    }

    /** Sends of packets of five shares, each by the next user into the next group. */
    static HttpLoad.Requests sends(byte[][] headers) {
        return posts(
                headers,
                n -> "/v1/packets",
                n -> "{\"group\":\""
                        + BenchBed.GROUPS
                                .get((int) (n % BenchBed.GROUPS.size()))
                                .value()
                        + "\",\"kind\":\"lucky\",\"asset\":\"CNY\",\"amount\":500,\"count\":5}");
    }

    /** Deposits, each into the wallet of the next member. @param backend its headers */
    static HttpLoad.Requests deposits(byte[][] backend, int members) {
        return posts(
                backend,
                n -> String.format(Locale.ROOT, "/v1/accounts/member-%09d/deposits", n % members),
                n -> "{\"asset\":\"CNY\",\"amount\":100}");
    }

    private static HttpLoad.Requests posts(byte[][] headers, LongFunction<String> path, LongFunction<String> body) {
        String key = UUID.randomUUID().toString();
        return (n, to) -> {
            String text = body.apply(n);
            to.put(bytes("POST " + path.apply(n) + " HTTP/1.1\r\n"))
                    .put(headers[(int) (n % headers.length)])
                    .put(bytes("Content-Type: application/json\r\nIdempotency-Key: " + key + "-" + n
                            + "\r\nContent-Length: " + text.length() + "\r\n\r\n" + text));
        };
    }

    /** Whole lives of packets: five users claim each packet as soon as it is sent. */
    static HttpLoad.Requests lives(byte[][] headers) {
        HttpLoad.Requests sends = sends(headers);
        Queue<byte[]> claims = new ArrayDeque<>();
        byte[] end = bytes("Content-Length: 0\r\n\r\n");
        return new HttpLoad.Requests() {
            private int claimer;

            @Override
            public void write(long n, ByteBuffer to) {
                byte[] claim = claims.poll();
                if (claim == null) {
                    sends.write(n, to);
                } else {
                    to.put(claim).put(headers[claimer++ % headers.length]).put(end);
                }
            }

            @Override
            public void answered(HttpLoad.Connection connection) {
                String body = connection.body();
                if (body.startsWith(ID)) {
                    String packet = body.substring(ID.length(), body.indexOf('"', ID.length()));
                    byte[] claim = bytes("POST /v1/packets/" + packet + "/claims HTTP/1.1\r\n");
                    for (int i = 0; i < CLAIMS_OF_A_LIFE; i++) {
                        claims.add(claim);
                    }
                }
            }
        };
    }
}
