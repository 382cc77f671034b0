package dev.hongbao.engine;

import dev.hongbao.engine.Wire.WireReader;
import dev.hongbao.engine.Wire.WireWriter;
import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.store.redis.Subscription;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages over publish/subscribe of the Redis that the servers share. Each server subscribes to a channel of its own and to one
 * common channel. The messages of one pass of the event loop travel in one PUBLISH to each channel. A frame is an HMAC, the
 * sender's name, and the messages, each after its length. The subscription has connections apart from the publishing ones.
 *
 * <p>A subscription sends nothing, so it notices neither a silent Redis nor a new master. But each server receives its own
 * messages to all. If Redis accepts such messages for three seconds and none comes back, the line subscribes anew. So a message
 * to all is due every second. Confined to the event loop on which {@link #listen} is called.
 */
final class RedisLine implements ServerLine {
    private static final Logger LOG = LoggerFactory.getLogger(RedisLine.class);

    private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** Between two reads of the keys, and between two attempts at the first connection. */
    private static final long KEYS_SECONDS = 10;

    /** The limit of bytes on their way to Redis; further messages are dropped. */
    private static final int MAX_WAITING_BYTES = 16 << 20;

    private static final String HMAC = "HmacSHA256";
    private static final int HMAC_BYTES = 32;

    private final Vertx vertx;
    private final Supplier<Future<RedisLinks>> open;
    private final Supplier<Future<List<Buffer>>> readKeys;
    private final String prefix;
    private final String all;
    private final String self = UUID.randomUUID().toString();
    private final Counter forged;
    private final Map<String, Buffer> told = new LinkedHashMap<>();
    private Consumer<Buffer> heard = message -> {};
    private List<Mac> keys = List.of();
    private @Nullable RedisLinks links;
    private @Nullable Subscription subscription;
    private int waitingBytes;
    private long unheardNanos;
    private boolean unheard;
    private boolean refused;
    private boolean closed;
    private Future<?> published = Future.succeededFuture();

    /** See {@link ServerLine#overRedis}. */
    RedisLine(
            Vertx vertx,
            Supplier<Future<RedisLinks>> open,
            Supplier<Future<List<Buffer>>> readKeys,
            String namespace,
            MeterRegistry metrics) {
        this.vertx = vertx;
        this.open = open;
        this.readKeys = readKeys;
        this.prefix = Installation.channel(namespace, "");
        this.all = Installation.channel(namespace, "all");
        this.forged = ServerMessages.counter(metrics, "forged");
    }

    @Override
    public String self() {
        return self;
    }

    @Override
    public void listen(Consumer<Buffer> heard) {
        this.heard = heard;
        follow();
    }

    /** Reads the keys, since they may change, and connects if nothing is connected. */
    private void follow() {
        readKeys.get()
                .compose(read -> {
                    keys = read.stream().map(RedisLine::mac).toList();
                    return closed || links != null
                            ? Future.succeededFuture()
                            : open.get().compose(this::opened);
                })
                .onFailure(fault -> {
                    if (links == null) {
                        LOG.warn("cannot send messages to other servers until the stores answer: {}", fault.toString());
                    }
                })
                .onComplete(done -> {
                    if (!closed) {
                        vertx.timer(KEYS_SECONDS, TimeUnit.SECONDS).onSuccess(later -> follow());
                    }
                });
    }

    private Future<Void> opened(RedisLinks opened) {
        if (closed) {
            return opened.close();
        }
        links = opened;
        subscription = opened.subscribe(List.of(all, prefix + self), this::received);
        return Future.succeededFuture();
    }

    private static Mac mac(Buffer key) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(key.getBytes(), HMAC));
            return mac;
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible); // every Java runtime has it
        }
    }

    /** The channel is signed, too: a message to one server is invalid on another channel. */
    private static byte[] sign(Mac key, String channel, Buffer words) {
        key.update(channel.getBytes(StandardCharsets.UTF_8));
        return key.doFinal(words.getBytes());
    }

    @Override
    public void tellAll(Buffer message) {
        gather(all, message);
    }

    @Override
    public void tell(String server, Buffer message) {
        gather(prefix + server, message);
    }

    private void gather(String channel, Buffer message) {
        if (told.isEmpty()) {
            vertx.runOnContext(now -> flush());
        }
        told.computeIfAbsent(channel, first -> new WireWriter().text(self).message())
                .appendInt(message.length())
                .appendBuffer(message);
    }

    private void flush() {
        told.forEach(this::publish);
        told.clear();
    }

    private void publish(String channel, Buffer words) {
        RedisLink link = links == null
                ? null
                : links.servers().stream()
                        .filter(RedisLink::isConnected)
                        .findFirst()
                        .orElse(null);
        if (link == null || keys.isEmpty() || waitingBytes > MAX_WAITING_BYTES) {
            return;
        }
        Buffer frame = Buffer.buffer(sign(keys.get(0), channel, words)).appendBuffer(words);
        waitingBytes += frame.length();
        published = link.send(Request.cmd(Command.PUBLISH).arg(channel).arg(frame))
                .onComplete(sent -> {
                    waitingBytes -= frame.length();
                    if (sent.failed()) {
                        failed(sent.cause());
                    } else if (channel.equals(all)) {
                        tookWordToAll();
                    }
                });
    }

    private void failed(Throwable fault) {
        if (!refused && RedisFault.is(fault, RedisFault.Kind.ERROR)) {
            refused = true;
            LOG.warn("Redis refuses to publish: {}", fault.getMessage());
        }
    }

    private void tookWordToAll() {
        long now = System.nanoTime();
        refused = false;
        if (!unheard) {
            unheard = true;
            unheardNanos = now;
        } else if (now - unheardNanos > SILENT_NANOS && subscription != null) {
            unheard = false;
            subscription.leave();
        }
    }

    private void received(String channel, Buffer frame) {
        if (frame.length() < HMAC_BYTES) {
            forged.increment();
            return;
        }
        byte[] signature = frame.getBytes(0, HMAC_BYTES);
        Buffer words = frame.getBuffer(HMAC_BYTES, frame.length());
        if (keys.stream().noneMatch(key -> MessageDigest.isEqual(sign(key, channel, words), signature))) {
            forged.increment();
            return;
        }
        WireReader reader = new WireReader(words);
        if (reader.text().equals(self)) {
            unheard = false;
            return;
        }
        while (reader.hasMore()) {
            heard.accept(reader.bytes(reader.number()));
        }
    }

    @Override
    public Future<Void> close() {
        flush();
        closed = true;
        return published
                .transform(sent -> subscription == null ? Future.succeededFuture() : subscription.close())
                .transform(left -> links == null ? Future.succeededFuture() : links.close());
    }
}
