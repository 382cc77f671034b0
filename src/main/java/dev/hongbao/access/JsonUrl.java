package dev.hongbao.access;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Reads a JSON document, such as a JWK set, from a URL: one answer 200 of bounded size. The time limit covers the whole answer.
 * Follows no redirect. Blocks; for one thread at a time.
 */
public final class JsonUrl {
    /** Some hundred keys with their certificates. */
    private static final int MAX_BYTES = 256 * 1024;

    private final HttpRequest request;
    private final Duration limit;
    private final HttpClient client;

    /**
     * @param url http or https; a server's certificate is checked against the JVM's trust store
     * @param limit of one read, from the connection to the last byte
     */
    public JsonUrl(URI url, Duration limit) {
        this.limit = limit;
        this.request = HttpRequest.newBuilder(url)
                .header("Accept", "application/jwk-set+json, application/json")
                .build();
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(limit)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    /** Reads the document. @throws IOException for any other answer, or none */
    public String read() throws IOException {
        CompletableFuture<HttpResponse<byte[]>> answer =
                client.sendAsync(request, head -> new BoundedBody(head.statusCode()));
        try {
            byte[] body = answer.get(limit.toMillis(), TimeUnit.MILLISECONDS).body();
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString();
        } catch (ExecutionException fault) {
            Throwable cause = fault.getCause();
            if (cause instanceof ConnectException) { // says only that a channel is closed
                throw new IOException("no connection to its host", cause);
            }
            throw cause instanceof IOException why ? why : new IOException(cause);
        } catch (TimeoutException slow) {
            throw new IOException("no whole answer within " + limit.toSeconds() + " s", slow);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("stopped while reading");
        } finally {
            answer.cancel(true);
        }
    }

    /** The body of an answer 200. Fails and reads no more for another status or too long a body. */
    private static final class BoundedBody implements BodySubscriber<byte[]> {
        private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final int status;
        private @Nullable Subscription subscription;

        BoundedBody(int status) {
            this.status = status;
        }

        @Override
        public CompletionStage<byte[]> getBody() {
            return whole;
        }

        @Override
        public void onSubscribe(Subscription given) {
            subscription = given;
            if (status == 200) {
                given.request(Long.MAX_VALUE);
            } else {
                fail("answers " + status);
            }
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            for (ByteBuffer buffer : buffers) {
                if (bytes.size() + buffer.remaining() > MAX_BYTES) {
                    fail("answers more than " + MAX_BYTES / 1024 + " KiB");
                    return;
                }
                byte[] part = new byte[buffer.remaining()];
                buffer.get(part);
                bytes.writeBytes(part);
            }
        }

        private void fail(String why) {
            whole.completeExceptionally(new IOException(why));
            if (subscription != null) {
                subscription.cancel();
            }
        }

        @Override
        public void onError(Throwable fault) {
            whole.completeExceptionally(fault);
        }

        @Override
        public void onComplete() {
            whole.complete(bytes.toByteArray());
        }
    }
}
