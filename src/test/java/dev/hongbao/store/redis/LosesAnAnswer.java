package dev.hongbao.store.redis;

import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.lang.reflect.Proxy;

/** A link that breaks once, after Redis has executed a command. */
public final class LosesAnAnswer extends RelayedLink {
    private final Runnable then;
    private int left;

    /**
     * @param nth of the commands, 1 or more
     * @param then runs when the answer is lost, before anybody knows
     */
    public LosesAnAnswer(RedisLink link, int nth, Runnable then) {
        super(link);
        this.left = nth;
        this.then = then;
    }

    /** All keys are behind this link. */
    public RedisLinks links() {
        return (RedisLinks) Proxy.newProxyInstance(
                RedisLinks.class.getClassLoader(), new Class<?>[] {RedisLinks.class}, (links, asked, with) -> this);
    }

    @Override
    public Future<Response> send(Request request) {
        if (--left != 0) {
            return link.send(request);
        }
        return link.send(request).compose(reply -> {
            then.run();
            return Future.failedFuture(Faults.lost());
        });
    }
}
