package dev.hongbao.tools.bench;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.WebSocket;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.http.WebSocketConnectOptions;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Users with a WebSocket each, on few event loops: number n lives on loop n mod loops. Blocking, confined to one thread; the
 * connections are on their loops.
 */
final class SocketCrowd implements AutoCloseable {
    static final GroupId GROUP = new GroupId("crowd");

    private static final int LOOPS = 2;

    /** Requests under way on a loop. */
    private static final int WINDOW = 64;

    private static final Duration TTL = Duration.ofHours(2);
    private static final long EVENT_SECONDS = 30;
    private static final long LONGEST_MICROS = 60_000_000;

    private final Vertx vertx =
            Vertx.vertx(new VertxOptions().setPreferNativeTransport(true).setEventLoopPoolSize(LOOPS));
    private final List<Context> loops;
    private final WebSocketClient client;
    private final WebSocketConnectOptions address;
    private final Member[] members;
    private final AtomicInteger lost = new AtomicInteger();
    private volatile boolean isClosing;
    private volatile Event event = new Event(0);

    /** @param signer signs all tokens now, since that costs more than opening a connection */
    SocketCrowd(int port, TokenSigner signer, int connections) throws Exception {
        loops = BenchBed.loops(vertx, LOOPS);
        client = vertx.createWebSocketClient(new WebSocketClientOptions().setMaxConnections(connections));
        address = new WebSocketConnectOptions()
                .setHost("127.0.0.1")
                .setPort(port)
                .setURI("/v1/socket")
                .addSubProtocol("hongbao.v1");
        members = new Member[connections];
        for (int i = 0; i < connections; i++) {
            UserId user = new UserId(String.format(Locale.ROOT, "member-%09d", i));
            members[i] = new Member(i, signer.sign(user, Set.of(GROUP), Role.USER, TTL));
        }
    }

    /** One connection. It parses no JSON, so that the crowd costs less than the server. Confined to its loop. */
    private final class Member {
        private final int index;
        private final String token;
        private @Nullable WebSocket socket;
        private @Nullable Promise<Void> answer;

        Member(int index, String token) {
            this.index = index;
            this.token = token;
        }

        Future<Void> open() {
            return client.connect(address).compose(opened -> {
                socket = opened;
                opened.textMessageHandler(this::arrived);
                opened.closeHandler(gone -> lost.addAndGet(isClosing ? 0 : 1));
                return ask("{\"type\":\"auth\",\"id\":\"1\",\"token\":\"" + token + "\"}");
            });
        }

        /** Sends a request. Fails when the server refuses it. One at a time. */
        Future<Void> ask(String frame) {
            WebSocket opened = socket;
            if (opened == null) {
                return Future.failedFuture("not open");
            }
            Promise<Void> mine = Promise.promise();
            answer = mine;
            return opened.writeTextMessage(frame).compose(written -> mine.future());
        }

        private void arrived(String text) {
            Promise<Void> asked = answer;
            if (text.startsWith("{\"type\":\"event\"")) {
                event.arrived(index);
            } else if (asked != null) {
                answer = null;
                if (text.startsWith("{\"type\":\"error\"")) {
                    asked.fail(text);
                } else {
                    asked.complete();
                }
            }
        }

        Future<Void> close() {
            WebSocket opened = socket;
            return opened == null ? Future.succeededFuture() : opened.close();
        }
    }

    private void each(int count, IntFunction<Future<Void>> call) throws Exception {
        new Storm<>(loops, count, WINDOW, call, done -> true).run();
    }

    /** Opens and authenticates all connections. */
    void open() throws Exception {
        each(members.length, n -> members[n].open());
    }

    /** Lets the first {@code count} follow the group. */
    void join(int count) throws Exception {
        String frame = "{\"type\":\"join\",\"id\":\"2\",\"group\":\"" + GROUP.value() + "\"}";
        each(count, n -> members[n].ask(frame));
    }

    /**
     * Member 0 sends a packet.
     *
     * @return microseconds from the send to the event, of each of the first {@code count}
     * @throws Exception when a member has no event after half a minute
     */
    Histogram send(int count, String key) throws Exception {
        Event mine = new Event(count);
        event = mine;
        String frame = """
                {"type":"send","id":"3","key":"%s","packet":{"group":"%s","kind":"lucky","asset":"CNY",\
                "amount":50000,"count":500}}""".formatted(key, GROUP.value());
        loops.get(0).runOnContext(now -> {
            mine.begunNanos = System.nanoTime();
            members[0].ask(frame).onFailure(mine.done::tryFail);
        });
        BenchBed.await(mine.done.future().timeout(EVENT_SECONDS, TimeUnit.SECONDS));
        Histogram micros = new Histogram(LONGEST_MICROS, 3);
        for (long at : mine.arrivedNanos) {
            micros.recordValue((at - mine.begunNanos) / 1_000);
        }
        return micros;
    }

    /** One event under way. Each member writes its time on its loop; the count publishes it. */
    private static final class Event {
        private final long[] arrivedNanos;
        private final AtomicInteger missing;
        private final Promise<Void> done = Promise.promise();
        private volatile long begunNanos;

        Event(int members) {
            this.arrivedNanos = new long[members];
            this.missing = new AtomicInteger(members);
        }

        void arrived(int index) {
            if (index < arrivedNanos.length && arrivedNanos[index] == 0) {
                arrivedNanos[index] = System.nanoTime();
                if (missing.decrementAndGet() == 0) {
                    done.tryComplete();
                }
            }
        }
    }

    /** Connections that broke or that the server closed. */
    int lost() {
        return lost.get();
    }

    @Override
    public void close() throws Exception {
        isClosing = true;
        each(members.length, n -> members[n].close().otherwiseEmpty());
        BenchBed.await(vertx.close());
    }
}
