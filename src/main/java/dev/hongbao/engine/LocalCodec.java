package dev.hongbao.engine;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.MessageCodec;

/** Passes immutable messages on the event bus without a copy, within this server. */
public final class LocalCodec<T> implements MessageCodec<T, T> {
    private final Class<T> type;

    private LocalCodec(Class<T> type) {
        this.type = type;
    }

    /** Registers exactly {@code type}. Call it once a type, before anything is published. */
    public static <T> void register(EventBus bus, Class<T> type) {
        bus.registerDefaultCodec(type, new LocalCodec<>(type));
    }

    @Override
    public T transform(T message) {
        return message;
    }

    @Override
    public String name() {
        return type.getName();
    }

    @Override
    public byte systemCodecID() {
        return -1;
    }

    @Override
    public void encodeToWire(Buffer buffer, T message) {
        throw new UnsupportedOperationException("messages stay within one server");
    }

    @Override
    public T decodeFromWire(int position, Buffer buffer) {
        throw new UnsupportedOperationException("messages stay within one server");
    }
}
