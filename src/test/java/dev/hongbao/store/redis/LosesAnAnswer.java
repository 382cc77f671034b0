package dev.hongbao.store.redis;

import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/** A link that breaks once, after Redis has executed a command. */
public final class LosesAnAnswer extends RelayedLink {
    private final Runnable then;
    private int left;

    private LosesAnAnswer(RedisLink link, int nth, Runnable then) {
        super(link);
        this.left = nth;
        this.then = then;
    }

    /**
     * Submits an item over a link that loses an answer, and a second item when the answer is lost, before anybody knows.
     *
     * @param nth of the commands, 1 or more
     * @param over makes a batcher; all keys are behind one link
     * @return both items' answers, once they are there
     */
    public static <B, A> Future<List<Future<A>>> submit(
            RedisLink link,
            int nth,
            Function<RedisLinks, B> over,
            Function<B, Future<A>> first,
            Function<B, Future<A>> second) {
        AtomicReference<B> batcher = new AtomicReference<>();
        List<Future<A>> answers = new ArrayList<>();
        LosesAnAnswer losing = new LosesAnAnswer(link, nth, () -> answers.add(second.apply(batcher.get())));
        batcher.set(over.apply((RedisLinks) Proxy.newProxyInstance(
                RedisLinks.class.getClassLoader(), new Class<?>[] {RedisLinks.class}, (links, asked, with) -> losing)));
        answers.add(first.apply(batcher.get()));
        return answers.get(0)
                .otherwiseEmpty()
                .compose(done -> Future.join(answers).otherwiseEmpty())
                .map(done -> answers);
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
