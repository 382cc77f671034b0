package dev.hongbao.web.api;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.vertx.core.buffer.Buffer;

/** A problem rendered in one language. A cache keeps the latest documents, because a crowd gets the same refusal. Immutable. */
public final class ToldProblem {
    /** Half a megabyte. Problems that name places in an input seldom repeat, and are not cached. */
    private static final int MOST_KEPT = 500;

    private static final LoadingCache<Key, ToldProblem> KEPT =
            Caffeine.newBuilder().maximumSize(MOST_KEPT).executor(Runnable::run).build(ToldProblem::new);

    private final Buffer document;
    private final String withRetry;

    private record Key(Problem problem, Language language) {}

    private ToldProblem(Key key) {
        String json = key.problem.toJson(key.language);
        int retry = key.problem.retryAfterSeconds();
        this.document = Buffer.buffer(json);
        this.withRetry =
                retry == 0 ? json : json.substring(0, json.length() - 1) + ",\"retryAfterSeconds\":" + retry + "}";
    }

    /** A problem in a language. */
    public static ToldProblem of(Problem problem, Language language) {
        Key key = new Key(problem, language);
        return problem.faults().isEmpty() ? KEPT.get(key) : new ToldProblem(key);
    }

    /** The document, {@code application/problem+json}. Nobody may write to it. */
    public Buffer document() {
        return document;
    }

    /** The document for a WebSocket, which has no headers: adds {@code retryAfterSeconds} where waiting helps. */
    public String withRetry() {
        return withRetry;
    }
}
