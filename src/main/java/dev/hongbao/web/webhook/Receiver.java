package dev.hongbao.web.webhook;

import dev.hongbao.common.config.WebhooksConfig;
import dev.hongbao.domain.webhook.Delivery;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import io.vertx.ext.web.codec.BodyCodec;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Who is told by one webhook, with a client of its own. Every attempt looks its name up, checks all its addresses, and connects to one that
 * was checked, so that no other answer of the DNS comes in between. No redirect is followed. Of the answer only its status counts.
 */
final class Receiver implements AutoCloseable {
    private static final int HTTPS = 443;
    private static final int HTTP = 80;
    private static final int MAX_ERROR = 200;

    /** Shorter than receivers keep an idle connection. */
    private static final int KEEP_ALIVE_SECONDS = 3;

    private final Vertx vertx;
    private final WorkerExecutor lookups;
    private final AddressGuard guard;
    private final WebhooksConfig config;
    private final Clock clock;
    private @Nullable WebClient client;

    /**
     * @param lookups has a thread for each receiver: a lookup blocks
     * @param clock tells the message's time
     */
    Receiver(Vertx vertx, WorkerExecutor lookups, AddressGuard guard, WebhooksConfig config, Clock clock) {
        this.vertx = vertx;
        this.lookups = lookups;
        this.guard = guard;
        this.config = config;
        this.clock = clock;
    }

    /**
     * Makes one attempt.
     *
     * @param attempt counts them: of several addresses each time another one is taken
     * @return never fails, and comes within the timeout
     */
    Future<Delivery.Answer> tell(String url, WebhookMessage message, List<String> secrets, int attempt) {
        long begun = System.nanoTime();
        return Future.succeededFuture(url)
                .compose(text -> send(URI.create(text), message, secrets, attempt))
                .timeout(config.timeout().toMillis(), TimeUnit.MILLISECONDS)
                .map(status -> new Delivery.Answer(status, null, millisSince(begun)))
                .otherwise(fault -> {
                    close(); // what is still under way ends with its connection
                    return new Delivery.Answer(null, error(fault), millisSince(begun));
                });
    }

    private Future<Integer> send(URI url, WebhookMessage message, List<String> secrets, int attempt) {
        boolean secure = "https".equals(url.getScheme());
        int port = url.getPort() > 0 ? url.getPort() : secure ? HTTPS : HTTP;
        return lookups.executeBlocking(() -> address(url.getHost(), secure, attempt), false)
                .compose(address -> {
                    Instant now = clock.instant();
                    return client().request(
                                    HttpMethod.POST,
                                    SocketAddress.inetSocketAddress(port, address.getHostAddress()),
                                    new RequestOptions()
                                            .setSsl(secure)
                                            .setHost(url.getHost())
                                            .setPort(port)
                                            .setURI(target(url)))
                            .putHeader("Content-Type", "application/json")
                            .putHeader("webhook-id", message.id())
                            .putHeader("webhook-timestamp", Long.toString(now.getEpochSecond()))
                            .putHeader("webhook-signature", message.signature(secrets, now))
                            .as(BodyCodec.none())
                            .sendBuffer(Buffer.buffer(message.body()));
                })
                .map(answer -> answer.statusCode());
    }

    /** One of the host's addresses, when all of them are allowed. */
    private InetAddress address(String host, boolean secure, int attempt) throws UnknownHostException {
        InetAddress[] all = InetAddress.getAllByName(host);
        for (InetAddress each : all) {
            if (!guard.allows(each)) {
                throw new ForbiddenAddressException("leads to an address that is not public");
            }
            if (!secure && !guard.allowsPlain(each)) {
                throw new ForbiddenAddressException("is not https, and leads to a public address");
            }
        }
        return all[attempt % all.length];
    }

    private static String target(URI url) {
        String path = url.getRawPath().isEmpty() ? "/" : url.getRawPath();
        return url.getRawQuery() == null ? path : path + "?" + url.getRawQuery();
    }

    private WebClient client() {
        WebClient made = client;
        if (made == null) {
            int timeout = (int) config.timeout().toMillis();
            made = WebClient.create(
                    vertx,
                    new WebClientOptions()
                            .setFollowRedirects(false)
                            .setUserAgent("Hongbao-Webhooks/1")
                            .setKeepAliveTimeout(KEEP_ALIVE_SECONDS)
                            .setConnectTimeout(timeout)
                            .setIdleTimeout(timeout)
                            .setIdleTimeoutUnit(TimeUnit.MILLISECONDS),
                    new PoolOptions().setHttp1MaxSize(1));
            client = made;
        }
        return made;
    }

    private static int millisSince(long begun) {
        return (int) TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    }

    private static String error(Throwable fault) {
        if (fault instanceof TimeoutException) {
            return "no answer in time";
        }
        if (fault instanceof UnknownHostException && !(fault instanceof ForbiddenAddressException)) {
            return "its host is not known";
        }
        String text = fault instanceof ForbiddenAddressException ? "the URL " + fault.getMessage() : fault.toString();
        return text.length() > MAX_ERROR ? text.substring(0, MAX_ERROR) : text;
    }

    /** Ends its connection; the next attempt makes another. */
    @Override
    public void close() {
        WebClient made = client;
        client = null;
        if (made != null) {
            made.close();
        }
    }

    /** The URL leads to where nobody may be told anything. */
    private static final class ForbiddenAddressException extends UnknownHostException {
        private static final long serialVersionUID = 1L;

        ForbiddenAddressException(String why) {
            super(why);
        }
    }
}
