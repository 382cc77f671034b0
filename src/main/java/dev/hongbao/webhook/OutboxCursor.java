package dev.hongbao.webhook;

import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A reader's position: a place in each stream of the outbox, and the events read of one further row. Opaque to clients. Immutable. */
final class OutboxCursor {
    /** The stream of rows without a shard. A shard's stream is its number + 1. */
    static final int NO_SHARD = 0;

    private static final int VERSION = 1;
    private static final int MAX_STREAMS = 257;
    private static final int MAX_VARINT_SHIFT = 56;

    private final UUID era;
    private final long[] places;
    private final int partStream;
    private final int partEvents;

    private OutboxCursor(UUID era, long[] places, int partStream, int partEvents) {
        this.era = era;
        this.places = places;
        this.partStream = partStream;
        this.partEvents = partEvents;
    }

    /**
     * A cursor after all rows up to {@code place}.
     *
     * @param streams one more than the number of shards
     */
    static OutboxCursor at(UUID era, int streams, long place) {
        long[] places = new long[streams];
        Arrays.fill(places, place);
        return new OutboxCursor(era, places, NO_SHARD, 0);
    }

    /**
     * Reads {@link #text}.
     *
     * @return null for an invalid cursor
     */
    public static @Nullable OutboxCursor parse(String text) {
        try {
            ByteBuffer in = ByteBuffer.wrap(Base64.getUrlDecoder().decode(text));
            if (in.get() != VERSION) {
                return null;
            }
            UUID era = new UUID(in.getLong(), in.getLong());
            long streams = read(in);
            long least = read(in);
            if (streams < 2 || streams > MAX_STREAMS) {
                return null;
            }
            long[] places = new long[(int) streams];
            for (int i = 0; i < places.length; i++) {
                places[i] = Math.addExact(least, read(in));
            }
            long part = read(in);
            long events = read(in);
            return in.hasRemaining() || part >= streams || events > Integer.MAX_VALUE
                    ? null
                    : new OutboxCursor(era, places, (int) part, (int) events);
        } catch (IllegalArgumentException | BufferUnderflowException | ArithmeticException malformed) {
            return null;
        }
    }

    /** At most 2,000 characters of the URL's alphabet. */
    public String text() {
        ByteArrayOutputStream out = new ByteArrayOutputStream(64);
        out.write(VERSION);
        out.writeBytes(ByteBuffer.allocate(16)
                .putLong(era.getMostSignificantBits())
                .putLong(era.getLeastSignificantBits())
                .array());
        long least = least();
        write(out, places.length);
        write(out, least);
        for (long place : places) {
            write(out, place - least);
        }
        write(out, partStream);
        write(out, partEvents);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(out.toByteArray());
    }

    private static void write(ByteArrayOutputStream out, long value) {
        long rest = value;
        for (; rest >= 0x80; rest >>>= 7) {
            out.write((int) (rest & 0x7f | 0x80));
        }
        out.write((int) rest);
    }

    private static long read(ByteBuffer in) {
        long value = 0;
        for (int shift = 0; shift <= MAX_VARINT_SHIFT; shift += 7) {
            byte next = in.get();
            value |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new IllegalArgumentException("too long");
    }

    /** The history of the database that it belongs to. */
    UUID era() {
        return era;
    }

    int streams() {
        return places.length;
    }

    long place(int stream) {
        return places[stream];
    }

    /** All rows up to here are read. */
    public long least() {
        return Arrays.stream(places).min().orElse(0);
    }

    /** No row after this one is read. */
    long most() {
        return Arrays.stream(places).max().orElse(0);
    }

    /** The number of events read of the stream's next row. */
    int eventsRead(int stream) {
        return stream == partStream ? partEvents : 0;
    }

    /** A copy at another place of a stream, with no event of its next row. */
    OutboxCursor to(int stream, long place) {
        long[] moved = places.clone();
        moved[stream] = place;
        return stream == partStream
                ? new OutboxCursor(era, moved, NO_SHARD, 0)
                : new OutboxCursor(era, moved, partStream, partEvents);
    }

    /** A copy with some events of a stream's next row. */
    OutboxCursor with(int stream, int events) {
        return new OutboxCursor(era, places, stream, events);
    }

    /** A copy with each stream at {@code place} or later. */
    OutboxCursor atLeast(long place) {
        OutboxCursor lifted = this;
        for (int stream = 0; stream < places.length; stream++) {
            if (places[stream] < place) {
                lifted = lifted.to(stream, place);
            }
        }
        return lifted;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof OutboxCursor cursor && text().equals(cursor.text());
    }

    @Override
    public int hashCode() {
        return text().hashCode();
    }

    @Override
    public String toString() {
        return text();
    }
}
