package dev.hongbao.fuzz;

import java.nio.charset.StandardCharsets;

/** What one client of HTTP/2 sends: requests, and frames that a good client does not send, or not then. Stateless. */
final class Http2Frames {
    private static final byte[] NOTHING = {};

    /** {@code GET /}, of HPACK's static table. */
    private static final byte[] ROOT = {Http2Requests.GET, Http2Requests.HTTPS, Http2Requests.ROOT};

    /** A size beyond what the server promises to read in one frame. */
    static final int TOO_LONG = 20_000;

    static final int MOST_REPEATED = 300;
    static final int MOST_NOISE = 200;

    private final Http2Requests requests;

    Http2Frames(World world, Hostile hostile) {
        this.requests = new Http2Requests(world, hostile);
    }

    /** Asks for what every user may see. */
    void balances(Http2Bytes all, int stream) {
        requests.balances(all, stream);
    }

    /** How a connection begins: right, most times. */
    byte[] preface(Input input) {
        Http2Bytes all = new Http2Bytes();
        switch (input.random().nextInt(24)) {
            case 0 -> all.raw("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            case 1 -> all.raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            case 2 -> all.raw(Http2Bytes.PREFACE).raw(Http2Bytes.PREFACE);
            case 3 -> all.raw(Http2Bytes.PREFACE); // no settings
            case 4 -> settings(input, all.raw(Http2Bytes.PREFACE));
            default -> all.raw(Http2Bytes.PREFACE).frame(Http2Bytes.SETTINGS, 0, 0);
        }
        return all.bytes();
    }

    /** Adds a request, or something else. @return by how much the next stream's number is higher */
    int next(Input input, Http2Bytes all, int stream) {
        switch (input.random().nextInt(16)) {
            case 0, 1, 2 -> requests.balances(all, stream);
            case 3, 4 -> requests.posted(input, all, stream);
            case 5, 6, 7 -> requests.asked(input, all, stream);
            case 8 -> all.frame(Http2Bytes.HEADERS, flags(input), stream, Http2Requests.packed(input));
            case 9 -> continued(input, all, stream);
            case 10 -> settings(input, all);
            case 11 -> windows(input, all, stream);
            case 12 -> all.frame(Http2Bytes.RST_STREAM, input.pick(0, 0xff), some(input, stream), payload(input, 4));
            case 13 -> pings(input, all, stream);
            case 14 -> resets(input, all, stream);
            default -> strange(input, all, stream);
        }
        return input.oneIn(12) ? input.pick(0, 1, -2, 1_000) : 2;
    }

    /** A header in pieces. */
    private void continued(Input input, Http2Bytes all, int stream) {
        byte[] field = new Http2Bytes().field("x-more", "1").bytes();
        if (!input.oneIn(6)) {
            all.frame(Http2Bytes.HEADERS, input.pick(0, Http2Bytes.END_STREAM), stream, ROOT);
        }
        if (input.oneIn(4)) {
            strange(input, all, stream); // nothing else may come between
        }
        int pieces = input.oneIn(4) ? input.random().nextInt(MOST_REPEATED) : 1;
        for (int i = 0; i < pieces; i++) {
            all.frame(Http2Bytes.CONTINUATION, 0, stream, input.oneIn(3) ? NOTHING : field);
        }
        all.frame(
                Http2Bytes.CONTINUATION,
                input.oneIn(5) ? 0 : Http2Bytes.END_HEADERS,
                input.oneIn(8) ? stream + 2 : stream,
                field);
    }

    private static void settings(Input input, Http2Bytes all) {
        Http2Bytes payload = new Http2Bytes();
        int count = input.oneIn(8)
                ? input.random().nextInt(MOST_REPEATED)
                : 1 + input.random().nextInt(3);
        for (int i = 0; i < count; i++) {
            payload.raw(Http2Bytes.setting(
                    input.pick(0, 1, 2, 3, 4, 5, 6, 8, 9, 0xffff),
                    input.pick(
                            0L,
                            1L,
                            2L,
                            100L,
                            16_383L,
                            16_384L,
                            65_535L,
                            (1L << 24) - 1,
                            (1L << 31) - 1,
                            1L << 31,
                            -1L)));
        }
        switch (input.random().nextInt(8)) {
            case 0 -> all.frame(Http2Bytes.SETTINGS, Http2Bytes.ACK, 0, payload.bytes());
            case 1 -> all.frame(Http2Bytes.SETTINGS, 0, 1, payload.bytes());
            case 2 -> all.frame(Http2Bytes.SETTINGS, 0, 0, payload(input, 5));
            case 3 -> all.frame(Http2Bytes.SETTINGS, Http2Bytes.ACK, 0);
            default -> all.frame(Http2Bytes.SETTINGS, 0, 0, payload.bytes());
        }
    }

    private static void windows(Input input, Http2Bytes all, int stream) {
        for (int i = 0; i == 0 || input.oneIn(2); i++) {
            all.frame(
                    Http2Bytes.WINDOW_UPDATE,
                    0,
                    input.oneIn(2) ? 0 : some(input, stream),
                    input.oneIn(6)
                            ? payload(input, 3)
                            : Http2Bytes.number(input.pick(0L, 1L, 65_535L, (1L << 31) - 1, 1L << 31)));
        }
    }

    private static void pings(Input input, Http2Bytes all, int stream) {
        int count = input.oneIn(6) ? MOST_REPEATED : 1;
        for (int i = 0; i < count; i++) {
            all.frame(
                    Http2Bytes.PING,
                    input.oneIn(3) ? Http2Bytes.ACK : 0,
                    input.oneIn(9) ? stream : 0,
                    payload(input, input.oneIn(9) ? 7 : 8));
        }
    }

    /** As CVE-2023-44487, below and above the limit. */
    private static void resets(Input input, Http2Bytes all, int stream) {
        int count = input.random().nextInt(input.oneIn(5) ? MOST_REPEATED : 10);
        for (int i = 0; i < count; i++) {
            all.frame(Http2Bytes.HEADERS, Http2Bytes.END_HEADERS | Http2Bytes.END_STREAM, stream + 2 * i, ROOT);
            all.frame(Http2Bytes.RST_STREAM, 0, stream + 2 * i, Http2Bytes.number(8));
        }
    }

    private void strange(Input input, Http2Bytes all, int stream) {
        int some = some(input, stream);
        switch (input.random().nextInt(9)) {
            case 0 ->
                all.frame(input.random().nextInt(256), input.random().nextInt(256), some, payload(input, MOST_NOISE));
            case 1 -> all.frame(Http2Bytes.PRIORITY, 0, some, input.oneIn(3) ? payload(input, 4) : dependsOn(some));
            case 2 -> all.frame(Http2Bytes.PUSH_PROMISE, Http2Bytes.END_HEADERS, some, payload(input, 8));
            case 3 -> all.frame(Http2Bytes.GOAWAY, 0, input.pick(0, 1), payload(input, input.pick(4, 8, 30)));
            case 4 -> all.frame(Http2Bytes.DATA, flags(input), some, payload(input, 30));
            case 5 ->
                all.frameOf(
                        input.pick(0, 4, 100, 16_385, 0xffffff),
                        input.random().nextInt(10),
                        flags(input),
                        some,
                        payload(input, 20));
            case 6 -> all.frame(Http2Bytes.DATA, 0, some, payload(input, TOO_LONG));
            case 7 ->
                all.frame(
                        Http2Bytes.HEADERS,
                        Http2Bytes.END_HEADERS | Http2Bytes.END_STREAM | Http2Bytes.WITH_PRIORITY,
                        some,
                        new Http2Bytes().raw(dependsOn(some)).raw(ROOT).bytes());
            default -> all.raw(payload(input, 1 + input.random().nextInt(MOST_NOISE)));
        }
    }

    private static byte[] dependsOn(int stream) {
        return new Http2Bytes().raw(Http2Bytes.number(stream)).raw((byte) 16).bytes();
    }

    /** That one, another, none, or the last that there can be. */
    private static int some(Input input, int stream) {
        return input.oneIn(2) ? stream : input.pick(0, 1, 2, 3, stream + 2, stream - 2, Integer.MAX_VALUE, -1);
    }

    static int flags(Input input) {
        return input.oneIn(3)
                ? input.random().nextInt(256)
                : Http2Bytes.END_HEADERS | input.pick(Http2Bytes.END_STREAM, Http2Bytes.END_STREAM, 0);
    }

    static byte[] payload(Input input, int length) {
        byte[] payload = new byte[length];
        input.random().nextBytes(payload);
        return payload;
    }

    /** Some bytes are not as they were. */
    static byte[] mutated(Input input, byte[] bytes) {
        byte[] other = bytes.clone();
        for (int i = 0; other.length > 0 && (i == 0 || input.oneIn(2)); i++) {
            other[input.random().nextInt(other.length)] = (byte) input.random().nextInt(256);
        }
        return other;
    }
}
