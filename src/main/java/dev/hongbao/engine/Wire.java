package dev.hongbao.engine;

import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/** The bytes of a message between servers: what a writer writes, a reader reads. */
public final class Wire {
    private Wire() {}

    /** Writes a message for {@link WireReader}. Numbers are big-endian and of fixed size. Not thread-safe. */
    public static final class WireWriter {
        private final Buffer buffer = Buffer.buffer();

        public WireWriter number(int number) {
            buffer.appendInt(number);
            return this;
        }

        public WireWriter number(long number) {
            buffer.appendLong(number);
            return this;
        }

        /** Seconds and nanoseconds: 12 bytes. */
        public WireWriter instant(Instant at) {
            return number(at.getEpochSecond()).number(at.getNano());
        }

        public WireWriter uuid(UUID id) {
            return number(id.getMostSignificantBits()).number(id.getLeastSignificantBits());
        }

        /** @param text at most 32,767 bytes of UTF-8 */
        public WireWriter text(String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            if (bytes.length > Short.MAX_VALUE) {
                throw new IllegalArgumentException("a text of " + bytes.length + " bytes");
            }
            buffer.appendShort((short) bytes.length).appendBytes(bytes);
            return this;
        }

        WireWriter octet(int octet) {
            buffer.appendByte((byte) octet);
            return this;
        }

        WireWriter numbers(Collection<Integer> numbers) {
            number(numbers.size());
            numbers.forEach(this::number);
            return this;
        }

        WireWriter stretches(Collection<Stretch> stretches) {
            number(stretches.size());
            stretches.forEach(each -> number(each.shard())
                    .number(each.epoch())
                    .number(each.firstSeq())
                    .number(each.lastSeq()));
            return this;
        }

        /** Without the namespace: all servers on a line share it. */
        WireWriter generations(Collection<Generation> generations) {
            number(generations.size());
            generations.forEach(
                    each -> number(each.shard()).number(each.epoch()).text(each.nonce()));
            return this;
        }

        Buffer message() {
            return buffer;
        }
    }

    /**
     * Reads the bytes of {@link WireWriter}. Malformed bytes fail with an unchecked exception, and take no more memory than the
     * message. Not thread-safe.
     */
    public static final class WireReader {
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
}
