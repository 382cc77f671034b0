package dev.hongbao.webhook;

import dev.hongbao.config.WebConfig.WebhooksConfig;
import dev.hongbao.values.ShortLivedClient;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.net.TrustOptions;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import io.vertx.ext.web.codec.BodyCodec;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.NoRouteToHostException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertPathBuilderException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The receiver of one webhook, with an HTTP client of its own. Every attempt resolves the name, checks all its addresses, and
 * connects to a checked one, so that no second DNS answer intervenes. The certificate must match the name. Redirects are not
 * followed. Only the answer's status and {@code Retry-After} count.
 */
final class Receiver implements AutoCloseable {
    private static final int HTTPS = 443;
    private static final int HTTP = 80;

    private static final int TOO_MANY_REQUESTS = 429;
    private static final int UNAVAILABLE = 503;

    /** A {@code Retry-After} in seconds. More digits than any sensible wait. */
    private static final Pattern SECONDS = Pattern.compile("[0-9]{1,10}");

    private static final int MAX_FAULT_LENGTH = 200;

    /** Shorter than receivers' own idle timeout. */
    private static final int KEEP_ALIVE_SECONDS = 3;

    private final Vertx vertx;
    private final WorkerExecutor lookups;
    private final Terms terms;
    private @Nullable WebClient client;

    /**
     * Terms of all connections to receivers.
     *
     * @param timeout of an attempt
     * @param trusted issuers of their certificates; null for the JVM's
     * @param clock of messages
     */
    record Terms(
            AddressGuard guard, Duration timeout, @Nullable TrustOptions trusted, Clock clock) {
        /** Reads the authority's file. */
        static Future<Terms> of(WorkerExecutor lookups, WebhooksConfig config, Clock clock) {
            AddressGuard guard = new AddressGuard(config.privateNetworks());
            Path authority = config.authority();
            return lookups.executeBlocking(() -> authority == null ? null : issuers(authority))
                    .map(trusted -> new Terms(guard, config.timeout(), trusted, clock));
        }

        /** A copy with a shorter timeout at most. */
        Terms within(Duration most) {
            return new Terms(guard, timeout.compareTo(most) < 0 ? timeout : most, trusted, clock);
        }
    }

    /** Threads for DNS lookups, which block: one per webhook. All callers share them; each closes its own handle. */
    static WorkerExecutor lookups(Vertx vertx) {
        return vertx.createSharedWorkerExecutor("hongbao-webhooks", Webhooks.MOST);
    }

    /**
     * The result of an attempt.
     *
     * @param retryAfter the receiver's Retry-After; zero if absent
     */
    record Reply(Delivery.Answer answer, Duration retryAfter) {}

    /** @param lookups has a thread for each receiver: a lookup blocks */
    Receiver(Vertx vertx, WorkerExecutor lookups, Terms terms) {
        this.vertx = vertx;
        this.lookups = lookups;
        this.terms = terms;
    }

    /** Makes one attempt. @param attempt number, which selects among several addresses @return never fails; completes within the timeout */
    Future<Reply> tell(String url, WebhookMessage message, List<String> secrets, int attempt) {
        long begun = System.nanoTime();
        return Future.succeededFuture(url)
                .map(URI::create)
                .compose(target -> address(target, attempt)
                        .compose(address -> millisSince(begun) < terms.timeout.toMillis()
                                ? send(target, address, message, secrets)
                                : Future.failedFuture(new TimeoutException())))
                .map(Receiver::understood)
                .timeout(terms.timeout.toMillis(), TimeUnit.MILLISECONDS)
                .map(answer -> new Reply(
                        new Delivery.Answer(answer.statusCode(), null, millisSince(begun)), retryAfter(answer)))
                .otherwise(fault -> {
                    close(); // ends the attempt in progress
                    return new Reply(new Delivery.Answer(null, text(fault), millisSince(begun)), Duration.ZERO);
                });
    }

    /** Checks for a status of three digits, as in RFC 9110. */
    private static HttpResponse<Void> understood(HttpResponse<Void> answer) {
        if (answer.statusCode() < 100 || answer.statusCode() > 599) {
            throw new IllegalArgumentException("no status");
        }
        return answer;
    }

    private Future<InetAddress> address(URI url, int attempt) {
        return lookups.executeBlocking(() -> terms.guard.address(url.getHost(), isSecure(url), attempt), false);
    }

    private Future<HttpResponse<Void>> send(
            URI url, InetAddress address, WebhookMessage message, List<String> secrets) {
        int port = url.getPort() > 0 ? url.getPort() : isSecure(url) ? HTTPS : HTTP;
        Instant now = terms.clock.instant();
        return client().request(
                        HttpMethod.POST,
                        SocketAddress.inetSocketAddress(port, address.getHostAddress()),
                        new RequestOptions()
                                .setSsl(isSecure(url))
                                .setHost(url.getHost())
                                .setPort(port)
                                .setURI(target(url)))
                .putHeader("Content-Type", "application/json")
                .putHeader("webhook-id", message.id())
                .putHeader("webhook-timestamp", Long.toString(now.getEpochSecond()))
                .putHeader("webhook-signature", message.signature(secrets, now))
                .putHeader("traceparent", message.traceparent())
                .as(BodyCodec.none())
                .sendBuffer(Buffer.buffer(message.body()));
    }

    private Duration retryAfter(HttpResponse<Void> answer) {
        String header = mayWait(answer.statusCode()) ? answer.getHeader("Retry-After") : null;
        return header == null ? Duration.ZERO : retryAfter(header, terms.clock.instant());
    }

    private static boolean isSecure(URI url) {
        return "https".equals(url.getScheme());
    }

    private static String target(URI url) {
        String path = url.getRawPath().isEmpty() ? "/" : url.getRawPath();
        return url.getRawQuery() == null ? path : path + "?" + url.getRawQuery();
    }

    private WebClient client() {
        WebClient made = client;
        if (made == null) {
            int timeout = (int) terms.timeout.toMillis();
            WebClientOptions options = new WebClientOptions()
                    .setFollowRedirects(false)
                    .setUserAgent("Hongbao-Webhooks/1")
                    .setKeepAliveTimeout(KEEP_ALIVE_SECONDS)
                    .setConnectTimeout(timeout)
                    .setIdleTimeout(timeout)
                    .setIdleTimeoutUnit(TimeUnit.MILLISECONDS);
            if (terms.trusted != null) {
                options.setTrustOptions(terms.trusted);
            }
            made = WebClient.wrap(
                    ShortLivedClient.make(
                            vertx,
                            () -> vertx.httpClientBuilder()
                                    .with(options)
                                    .with(new PoolOptions().setHttp1MaxSize(1))
                                    // Otherwise Vert.x would log a receiver's malformed HTTP as an error.
                                    .withConnectHandler(connection -> connection.exceptionHandler(told -> {}))
                                    .build()),
                    options);
            client = made;
        }
        return made;
    }

    private static int millisSince(long begun) {
        return (int) TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    }

    /** Closes its connection; the next attempt opens another. */
    @Override
    public void close() {
        WebClient made = client;
        client = null;
        if (made != null) {
            made.close();
        }
    }

    /** Describes why a receiver gave no answer, for the list of deliveries. @return at most 200 characters */
    private static String text(Throwable fault) {
        if (fault instanceof TimeoutException) {
            return "no answer in time";
        }
        if (fault instanceof AddressGuard.ForbiddenException forbidden) {
            return String.valueOf(forbidden.getMessage());
        }
        if (fault instanceof UnknownHostException) {
            return "its host is not known";
        }
        String certificate = ofCertificate(fault);
        String text = certificate != null ? certificate : ofConnection(fault);
        return text.length() > MAX_FAULT_LENGTH ? text.substring(0, MAX_FAULT_LENGTH) : text;
    }

    /** The message without Java class names. */
    private static String ofConnection(Throwable fault) {
        if (fault instanceof ConnectException || fault instanceof NoRouteToHostException) {
            return "nobody takes connections at its address";
        }
        if (fault instanceof SSLException) {
            return "no TLS connection with it: " + fault.getMessage();
        }
        return fault instanceof IOException || fault instanceof HttpClosedException
                ? "it closed the connection before it had answered"
                : "its answer is not HTTP that this server reads";
    }

    /** The innermost cause with a message: the JDK wraps causes. */
    private static @Nullable String ofCertificate(Throwable fault) {
        String found = null;
        for (Throwable cause = fault; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertificateExpiredException || cause instanceof CertificateNotYetValidException) {
                found = "its certificate is not valid at this time";
            } else if (cause instanceof CertPathBuilderException) {
                found = "its certificate is signed by nobody who is trusted";
            } else if (cause instanceof CertificateException) {
                found = "its certificate is refused: " + cause.getMessage();
            }
        }
        return found;
    }

    /** Whether {@code Retry-After} has a meaning with this status. */
    static boolean mayWait(int status) {
        return status == TOO_MANY_REQUESTS || status == UNAVAILABLE;
    }

    /**
     * Parses {@code Retry-After} (RFC 9110, 10.2.3): seconds, or a date.
     *
     * @param now for a date
     * @return zero for a past date, and for a malformed value
     */
    static Duration retryAfter(String header, Instant now) {
        String text = header.strip();
        if (SECONDS.matcher(text).matches()) {
            return Duration.ofSeconds(Long.parseLong(text));
        }
        try {
            Duration wait = Duration.between(now, Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text)));
            return wait.isNegative() ? Duration.ZERO : wait;
        } catch (DateTimeException none) {
            return Duration.ZERO;
        }
    }

    /**
     * The JVM's trusted issuers, and the issuers in a file. Blocks.
     *
     * @param file certificates, PEM
     * @throws IllegalArgumentException if it holds no readable certificate
     */
    static TrustOptions issuers(Path file) {
        try {
            KeyStore all = KeyStore.getInstance(KeyStore.getDefaultType());
            all.load(null, null);
            for (Certificate each : ofFile(file)) {
                all.setCertificateEntry("file-" + all.size(), each);
            }
            for (Certificate each : ofJvm()) {
                all.setCertificateEntry("jvm-" + all.size(), each);
            }
            return TrustOptions.wrap(factory(all));
        } catch (GeneralSecurityException | IOException broken) {
            throw new IllegalArgumentException("webhooks.tls-authority has no certificates that can be read", broken);
        }
    }

    private static Collection<? extends Certificate> ofFile(Path file) throws GeneralSecurityException, IOException {
        try (InputStream in = Files.newInputStream(file)) {
            Collection<? extends Certificate> found =
                    CertificateFactory.getInstance("X.509").generateCertificates(in);
            if (found.isEmpty()) {
                throw new CertificateException("there is none");
            }
            return found;
        }
    }

    private static List<X509Certificate> ofJvm() throws GeneralSecurityException {
        List<X509Certificate> all = new ArrayList<>();
        for (TrustManager manager : factory(null).getTrustManagers()) {
            if (manager instanceof X509TrustManager known) {
                all.addAll(List.of(known.getAcceptedIssuers()));
            }
        }
        return all;
    }

    private static TrustManagerFactory factory(@Nullable KeyStore store) throws GeneralSecurityException {
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory;
    }
}
