package dev.hongbao.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Requests of HTTP/2: right ones, and such whose fields, sizes or bodies are not as they should be. Stateless. */
final class Http2Requests {
    /** An index of HPACK's static table each. */
    static final byte GET = (byte) 0x82;

    static final byte POST = (byte) 0x83;
    static final byte ROOT = (byte) 0x84;
    static final byte HTTPS = (byte) 0x87;

    private static final String AUTHORITY = "127.0.0.1";
    private static final String JSON =
            "{\"group\":\"family\",\"kind\":\"lucky\",\"asset\":\"CNY\",\"amount\":100,\"count\":2}";

    private final World world;
    private final Hostile hostile;

    Http2Requests(World world, Hostile hostile) {
        this.world = world;
        this.hostile = hostile;
    }

    /** Asks for what every user may see. */
    void balances(Http2Bytes all, int stream) {
        Http2Bytes block = new Http2Bytes()
                .raw(GET, HTTPS)
                .field(":path", "/v1/me/balances")
                .field(":authority", AUTHORITY)
                .field("authorization", "Bearer " + world.token("alice"));
        all.frame(Http2Bytes.HEADERS, Http2Bytes.END_HEADERS | Http2Bytes.END_STREAM, stream, block.bytes());
    }

    /** A body in pieces, which may be longer or shorter than told, or come late. */
    void posted(Input input, Http2Bytes all, int stream) {
        byte[] body = JSON.getBytes(StandardCharsets.UTF_8);
        Http2Bytes block = new Http2Bytes()
                .raw(POST, HTTPS)
                .field(":path", input.pick("/v1/packets", "/v1/me/balances", "/nothing"))
                .field(":authority", AUTHORITY)
                .field("authorization", "Bearer " + world.token("alice"))
                .field("content-type", "application/json")
                .field("idempotency-key", "h" + input.number() + "-" + stream);
        if (input.oneIn(2)) {
            block.field(
                    "content-length",
                    input.oneIn(2)
                            ? Integer.toString(body.length)
                            : input.pick("0", "-1", "1000", "9".repeat(30), "5, 5", "", "+8"));
        }
        all.frame(Http2Bytes.HEADERS, Http2Bytes.END_HEADERS, stream, block.bytes());
        int cut = input.random().nextInt(body.length);
        all.frame(Http2Bytes.DATA, 0, stream, Arrays.copyOf(body, cut));
        switch (input.random().nextInt(8)) {
            case 0 -> all.frame(Http2Bytes.DATA, Http2Bytes.PADDED, stream, Http2Frames.payload(input, 2));
            case 1 -> all.frame(Http2Bytes.RST_STREAM, 0, stream, Http2Bytes.number(8));
            case 2 ->
                all.frame(Http2Bytes.DATA, Http2Bytes.END_STREAM, stream)
                        .frame(Http2Bytes.DATA, Http2Bytes.END_STREAM, stream, body);
            case 3 ->
                all.frame(
                        Http2Bytes.HEADERS,
                        Http2Bytes.END_HEADERS | input.pick(0, Http2Bytes.END_STREAM),
                        stream,
                        new Http2Bytes()
                                .field(input.pick("x-trailer", ":path", "Upper", "te"), "x")
                                .bytes());
            case 4 -> { // the rest never comes
            }
            default ->
                all.frame(Http2Bytes.DATA, Http2Bytes.END_STREAM, stream, Arrays.copyOfRange(body, cut, body.length));
        }
    }

    /** A request whose fields are not all as they should be. */
    void asked(Input input, Http2Bytes all, int stream) {
        Http2Bytes block = new Http2Bytes();
        if (!input.oneIn(10)) {
            block.raw(GET);
        }
        if (!input.oneIn(10)) {
            block.raw(HTTPS);
        }
        if (!input.oneIn(10)) {
            block.field(":path", input.oneIn(3) ? input.pick("", "*", "x", "//", "/%", "/a b", "/\u0000") : "/");
        }
        if (!input.oneIn(10)) {
            block.field(":authority", input.oneIn(5) ? input.pick("", "h:x", "a@b", "h h") : AUTHORITY);
        }
        while (input.oneIn(2)) {
            field(input, block);
        }
        all.frame(Http2Bytes.HEADERS, Http2Frames.flags(input), stream, block.bytes());
    }

    private void field(Input input, Http2Bytes block) {
        switch (input.random().nextInt(12)) {
            case 0 -> block.field(":path", "/v1/me/balances");
            case 1 -> block.field(":method", input.pick("", "CONNECT", "get", "G T", "PRI", "A".repeat(300)));
            case 2 -> block.field(":scheme", input.pick("http", "", "x:y"));
            case 3 -> block.field(input.pick(":protocol", ":status", ":", ":x", ""), "200");
            case 4 ->
                block.field(input.pick("connection", "keep-alive", "upgrade", "te", "transfer-encoding"), "chunked");
            case 5 -> block.field("host", input.pick("other.example", "", AUTHORITY));
            case 6 -> block.field(input.pick("X-Upper", "x y", "x\r\ny", "\u00e9", "x:"), "1");
            case 7 -> block.field("x-long", "x".repeat(input.random().nextInt(Http2Frames.TOO_LONG)));
            case 8 -> {
                for (int i = input.random().nextInt(Http2Frames.MOST_REPEATED); i > 0; i--) {
                    block.field(input.pick("cookie", "x-" + i), "a=" + i);
                }
            }
            case 9 -> block.field("content-length", input.pick("5", "-1", "0", "x"));
            case 10 -> block.field("authorization", "Bearer " + input.pick("x", world.token("alice")));
            default -> block.field("x", hostile.text(input));
        }
    }

    /** A header of HPACK that is wrong, or that grows. */
    static byte[] packed(Input input) {
        Http2Bytes block = new Http2Bytes();
        switch (input.random().nextInt(9)) {
            case 0 -> block.raw((byte) 0x80); // index 0
            case 1 -> block.raw((byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0x7f);
            case 2 -> block.raw((byte) 0x3f, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0x7f); // a huge table
            case 3 -> block.raw((byte) 0x00, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0x0f);
            case 4 ->
                block.raw(
                        GET, HTTPS, ROOT, (byte) 0x00, (byte) 0x84, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff);
            case 5 ->
                block.raw(GET, (byte) 0x20, (byte) 0x3f, (byte) 0xe1, (byte) 0x1f, HTTPS, ROOT); // a size in the middle
            case 6 -> block.raw((byte) (0xc0 + input.random().nextInt(63)));
            case 7 -> {
                // one entry is remembered, and named again and again: what is small here is large there
                String value = "v".repeat(3_900);
                byte[] entry = new Http2Bytes().field("x-bomb", value).bytes();
                entry[0] = 0x40;
                block.raw(GET, HTTPS, ROOT).raw(entry);
                for (int i = input.random().nextInt(Http2Frames.MOST_REPEATED); i > 0; i--) {
                    block.raw((byte) 0xbe);
                }
            }
            default -> block.raw(Http2Frames.payload(input, input.random().nextInt(Http2Frames.MOST_NOISE)));
        }
        return block.bytes();
    }
}
