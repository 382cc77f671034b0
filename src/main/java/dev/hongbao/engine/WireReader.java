package dev.hongbao.engine;

import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Reads the bytes of {@link WireWriter}. Malformed bytes fail with an unchecked exception, and take no more memory than the
 * message. Not thread-safe.
 */
public final class WireReader {
    private final Buffer buffer;
    private int at;

    WireReader(Buffer buffer) {
        this.buffer = buffer;
    }

    private int skip(int bytes) {
        if (bytes < 0 || bytes > buffer.length() - at) {
            throw new IllegalArgumentException("the message ends too early");
        }
        at += bytes;
        return at - bytes;
    }

    public int number() {
        return buffer.getInt(skip(Integer.BYTES));
    }

    public long longNumber() {
        return buffer.getLong(skip(Long.BYTES));
    }

    public Instant instant() {
        return Instant.ofEpochSecond(longNumber(), number());
    }

    public UUID uuid() {
        return new UUID(longNumber(), longNumber());
    }

    public String text() {
        int length = buffer.getShort(skip(Short.BYTES));
        int from = skip(length);
        return buffer.getString(from, from + length, StandardCharsets.UTF_8.name());
    }

    /** The number of parts that follow; each has at least one byte. */
    public int count() {
        int count = number();
        if (count < 0 || count > buffer.length() - at) {
            throw new IllegalArgumentException("more parts than bytes");
        }
        return count;
    }

    boolean hasMore() {
        return at < buffer.length();
    }

    Buffer bytes(int length) {
        int from = skip(length);
        return buffer.getBuffer(from, from + length);
    }

    int octet() {
        return buffer.getUnsignedByte(skip(1));
    }

    List<Integer> numbers() {
        List<Integer> numbers = new ArrayList<>();
        for (int left = count(); left > 0; left--) {
            numbers.add(number());
        }
        return numbers;
    }

    List<Stretch> stretches() {
        List<Stretch> stretches = new ArrayList<>();
        for (int left = count(); left > 0; left--) {
            stretches.add(new Stretch(number(), longNumber(), longNumber(), longNumber()));
        }
        return stretches;
    }

    List<Generation> generations(String namespace) {
        List<Generation> generations = new ArrayList<>();
        for (int left = count(); left > 0; left--) {
            generations.add(new Generation(namespace, number(), longNumber(), text()));
        }
        return generations;
    }
}
