package dev.hongbao.store.redis;

import io.vertx.redis.client.impl.types.ErrorType;
import java.util.concurrent.TimeoutException;

/** The failures of a modelled Redis. */
public final class Faults {
    private Faults() {}

    /** An error reply. */
    public static RedisFault reply(String message) {
        return RedisFault.of(ErrorType.create(message));
    }

    /** The connection broke, or the reply was late. */
    public static RedisFault lost() {
        return RedisFault.of(new TimeoutException("no reply"));
    }

    /** There is no connection. */
    public static RedisFault down() {
        return RedisFault.down();
    }
}
