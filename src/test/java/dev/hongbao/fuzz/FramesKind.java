package dev.hongbao.fuzz;

import dev.hongbao.http.Contract.Frames;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A WebSocket and what one client says on it: frames of asyncapi.yaml, some spoilt, and frames that are none. */
final class FramesKind implements Kind {
    private static final int TEXT = 1;
    private static final int CLOSE = 8;

    /** After which silence the client says that nothing more comes. */
    private static final int SILENCE_MILLIS = 200;

    private static final String HANDSHAKE =
            "GET /v1/socket HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: hongbao.v1\r\n";

    private final World world;
    private final Hostile hostile;
    private final List<JsonObject> examples = new ArrayList<>();

    FramesKind(World world, Hostile hostile) {
        this.world = world;
        this.hostile = hostile;
        JsonObject components = Frames.document().getJsonObject("components");
        for (String type : List.of("join", "leave", "send", "open", "claim", "play", "ping", "auth")) {
            JsonObject message = components.getJsonObject("messages").getJsonObject(type);
            for (Object example : message.getJsonArray("examples", new JsonArray())) {
                examples.add(((JsonObject) example).getJsonObject("payload"));
            }
        }
    }

    @Override
    public String name() {
        return "frames";
    }

    @Override
    public int share() {
        return 10;
    }

    @Override
    public void send(List<Input> inputs, Findings findings) throws IOException {
        for (Input input : inputs) {
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            if (!input.oneIn(12)) {
                said.writeBytes(text(new JsonObject()
                        .put("type", "auth")
                        .put("id", "a")
                        .put("token", world.token(input.pick(World.USERS)))
                        .encode()
                        .getBytes(StandardCharsets.UTF_8)));
            }
            for (int i = 0; i == 0 || i < 12 && !input.oneIn(5); i++) {
                said.writeBytes(input.oneIn(6) ? strange(input) : text(frame(input, i)));
            }
            said.writeBytes(text("{\"type\":\"ping\",\"id\":\"fence\"}".getBytes(StandardCharsets.UTF_8)));
            String fault = talk(input, said.toByteArray(), findings);
            if (fault != null) {
                findings.found(input, fault, said.toString(StandardCharsets.ISO_8859_1));
            }
        }
    }

    private String talk(Input input, byte[] said, Findings findings) throws IOException {
        try (Line line = new Line(world.port())) {
            String language = input.oneIn(3) ? "Accept-Language: zh-CN\r\n" : "";
            line.send((HANDSHAKE + language + "\r\n").getBytes(StandardCharsets.US_ASCII));
            Answer answer = line.read(false);
            if (answer == null || answer.status() != 101) {
                return "no upgrade: " + answer;
            }
            line.send(said);
            line.waitAtMost(SILENCE_MILLIS);
            boolean isOver = false;
            while (true) {
                try {
                    String end = next(line.stream(), input, findings);
                    if (end != null) {
                        return end.isEmpty() ? null : end;
                    }
                } catch (SocketTimeoutException silent) {
                    if (isOver) {
                        return "nothing within " + Line.LIMIT_MILLIS + " ms, and not closed";
                    }
                    isOver = true;
                    line.waitAtMost(Line.LIMIT_MILLIS);
                    line.endOutput();
                }
            }
        } catch (EOFException | SocketException closed) {
            findings.count(input, "cut");
            return null;
        }
    }

    /** @return empty when it is over, what is wrong, or null to read on */
    private static String next(DataInputStream in, Input input, Findings findings) throws IOException {
        int opcode = in.readUnsignedByte() & 0xf;
        long length = in.readUnsignedByte();
        length = length == 126 ? in.readUnsignedShort() : length == 127 ? in.readLong() : length;
        byte[] payload = in.readNBytes((int) length);
        if (opcode == CLOSE) {
            int code = payload.length < 2 ? 1005 : (payload[0] & 0xff) << 8 | payload[1] & 0xff;
            findings.count(input, "close " + code);
            return code == 4008 ? "closed with internal-error" : "";
        }
        if (opcode != TEXT) {
            return null;
        }
        JsonObject frame = new JsonObject(new String(payload, StandardCharsets.UTF_8));
        String type = frame.getString("type");
        findings.count(input, type);
        if (type.equals("pong") && frame.getString("id").equals("fence")) {
            return "";
        }
        return type.equals("error")
                ? Oracle.problemFault(frame.getJsonObject("error").encode(), 0)
                : null;
    }

    private byte[] frame(Input input, int place) {
        JsonObject frame = input.pick(examples).copy().put("id", input.oneIn(10) ? "same" : "i" + place);
        fill(input, frame, "group", World.GROUPS);
        fill(input, frame, "packet", world.ids("packet"));
        fill(input, frame, "draw", world.ids("draw"));
        fill(input, frame, "campaign", world.ids("campaign"));
        if (frame.containsKey("key")) {
            frame.put("key", input.oneIn(6) ? "k1" : input.number() + "-" + place);
        }
        if (frame.containsKey("after") && input.oneIn(2)) {
            frame.put("after", Integer.toString(input.random().nextInt(5_000)));
        }
        return hostile.spoilt(input, frame, input.pick(0, 0, 0, 1, 1, 2, 4));
    }

    private static void fill(Input input, JsonObject frame, String name, List<String> known) {
        if (frame.getValue(name) instanceof String && !known.isEmpty() && !input.oneIn(8)) {
            frame.put(name, input.pick(known));
        }
    }

    private static byte[] text(byte[] payload) {
        return frame(0x80 | TEXT, payload, payload.length, true);
    }

    /** Bytes that a good client does not send. */
    private byte[] strange(Input input) {
        byte[] json = frame(input, 0);
        byte[] noise = new byte[input.random().nextInt(140)];
        input.random().nextBytes(noise);
        return switch (input.random().nextInt(9)) {
            case 0 -> frame(input.random().nextInt(256), noise, noise.length, true);
            case 1 -> frame(0x80 | TEXT, json, json.length, false);
            case 2 -> frame(0x80 | TEXT, json, input.pick(0L, 125L, 70_000L, 1L << 32, Long.MAX_VALUE, -1L), true);
            case 3 -> joined(frame(TEXT, json, json.length, true), frame(0x80, noise, noise.length, true));
            case 4 -> frame(0x80, noise, noise.length, true);
            case 5 ->
                frame(
                        0x80 | CLOSE,
                        input.pick(new byte[0], new byte[1], new byte[] {3, (byte) 0xe8}, noise),
                        noise.length % 126,
                        true);
            case 6 -> frame(0x80 | input.pick(9, 10), noise, noise.length, true);
            case 7 -> text(hostile.text(input).getBytes(StandardCharsets.UTF_16));
            default -> noise;
        };
    }

    private static byte[] joined(byte[] first, byte[] second) {
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.writeBytes(first);
        both.writeBytes(second);
        return both.toByteArray();
    }

    /** @param length as it is told, which may be another one than there is */
    private static byte[] frame(int first, byte[] payload, long length, boolean isMasked) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        int mask = isMasked ? 0x80 : 0;
        frame.write(first);
        int bytes = length >= 0 && length < 126 ? 0 : length >= 0 && length < 65_536 ? 2 : 8;
        frame.write(mask | (bytes == 0 ? (int) length : bytes == 2 ? 126 : 127));
        for (int shift = 8 * bytes - 8; shift >= 0; shift -= 8) {
            frame.write((int) (length >> shift));
        }
        if (isMasked) {
            frame.writeBytes(new byte[4]); // a mask of zeroes changes nothing
        }
        frame.writeBytes(payload);
        return frame.toByteArray();
    }
}
