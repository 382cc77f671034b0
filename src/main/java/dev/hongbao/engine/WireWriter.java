package dev.hongbao.engine;

import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collection;
import java.util.UUID;

/** Writes a message for {@link WireReader}. Numbers are big-endian and of fixed size. Not thread-safe. */
public final class WireWriter {
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
        generations.forEach(each -> number(each.shard()).number(each.epoch()).text(each.nonce()));
        return this;
    }

    Buffer message() {
        return buffer;
    }
}
