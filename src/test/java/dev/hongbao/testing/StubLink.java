package dev.hongbao.testing;

import dev.hongbao.store.redis.RedisLink;
import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.function.Function;

/** A link without a Redis: it is connected, is its own server, and answers each command as it is given. */
public record StubLink(Function<Request, Future<Response>> answers) implements RedisLink {
    @Override
    public boolean isConnected() {
        return true;
    }

    @Override
    public RedisLink server() {
        return this;
    }

    @Override
    public Future<Response> send(Request request) {
        return answers.apply(request);
    }
}
