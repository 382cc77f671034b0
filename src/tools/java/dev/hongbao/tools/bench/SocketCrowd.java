package dev.hongbao.tools.bench;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.web.access.TokenSigner;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.http.WebSocketConnectOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;

/**
 * Users with a connection each, on few event loops: number n lives on loop n mod loops. Blocking, confined to one thread; the
 * connections are on their loops.
 */
final class SocketCrowd implements AutoCloseable {
    static final GroupId GROUP = new GroupId("crowd");

    private static final int LOOPS = 2;

    /** Requests under way on a loop. */
    private static final int WINDOW = 64;

    /** Connections from one loopback address: some less than it has ephemeral ports. */
    private static final int PER_ADDRESS = 20_000;

    private static final Duration TTL = Duration.ofHours(2);
    private static final long LONGEST_MICROS = 60_000_000;

    private final Vertx vertx =
            Vertx.vertx(new VertxOptions().setPreferNativeTransport(true).setEventLoopPoolSize(LOOPS));
    private final List<Context> loops = new CopyOnWriteArrayList<>();
    private final List<WebSocketClient> clients = new ArrayList<>();
    private final WebSocketConnectOptions address;
    private final String[] auths;
    private final AtomicReferenceArray<SocketMember> members;
    private final AtomicInteger lost = new AtomicInteger();
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile Round round = new Round(0);

    /**
     * @param signer signs everybody's token now, since that would take more of the machine than opening a connection
     * @param connections the most that are opened
     */
    SocketCrowd(int port, TokenSigner signer, int connections) throws Exception {
        this.auths = new String[connections];
        for (int i = 0; i < connections; i++) {
            UserId user = new UserId(String.format(Locale.ROOT, "member-%09d", i));
            String token = signer.sign(user, Set.of(GROUP), Role.USER, TTL);
            auths[i] = "{\"type\":\"auth\",\"id\":\"1\",\"token\":\"" + token + "\"}";
        }
        this.members = new AtomicReferenceArray<>(connections);
        this.address = new WebSocketConnectOptions()
                .setHost("127.0.0.1")
                .setPort(port)
                .setURI("/v1/socket")
                .addSubProtocol("hongbao.v1");
        // A thread that is not Vert.x' own gets one and the same context, however often it asks for one.
        BenchBed.await(vertx.deployVerticle(LoopVerticle::new, new DeploymentOptions().setInstances(LOOPS)));
        for (int i = 0; i <= connections / PER_ADDRESS; i++) {
            clients.add(vertx.createWebSocketClient(new WebSocketClientOptions()
                    .setLocalAddress("127.0.0." + (i + 1))
                    .setMaxConnections(connections)));
        }
    }

    /** Tells its loop. */
    private final class LoopVerticle extends VerticleBase {
        @Override
        public Future<?> start() {
            loops.add(context);
            return Future.succeededFuture();
        }
    }

    /** How many of many came in time, and how fast. */
    record Passed(int count, double seconds) {
        double perSecond() {
            return count / seconds;
        }
    }

    /** Connections that the server closed or that broke. */
    int lost() {
        return lost.get();
    }

    /** Opens and authenticates that many connections. */
    Passed open(int count, Duration limit) throws Exception {
        return forEach(count, limit, this::open);
    }

    private Future<Void> open(int index) {
        return clients.get(index / PER_ADDRESS).connect(address).compose(socket -> {
            socket.closeHandler(gone -> {
                if (!closing.get()) {
                    lost.incrementAndGet();
                }
            });
            SocketMember member = new SocketMember(socket, () -> round.arrived(index));
            members.set(index, member);
            return member.ask(auths[index]);
        });
    }

    /** The first {@code count} follow the group, as a client does that begins. */
    Passed join(int count, Duration limit) throws Exception {
        String frame = "{\"type\":\"join\",\"id\":\"2\",\"group\":\"" + GROUP.value() + "\"}";
        return forEach(count, limit, index -> members.get(index).ask(frame));
    }

    /**
     * Member 0 sends a packet; microseconds from that until each of the first {@code count} has the event.
     *
     * @return of fewer than {@code count} when the limit is reached
     */
    Histogram send(int count, String key, Duration limit) throws Exception {
        Round mine = new Round(count);
        round = mine;
        String frame =
                ("{\"type\":\"send\",\"id\":\"3\",\"key\":\"%s\",\"packet\":{\"group\":\"%s\",\"kind\":\"lucky\","
                                + "\"asset\":\"CNY\",\"amount\":50000,\"count\":500}}")
                        .formatted(key, GROUP.value());
        loops.get(0).runOnContext(now -> {
            mine.begin();
            members.get(0).ask(frame).onFailure(mine.done::tryFail);
        });
        vertx.setTimer(limit.toMillis(), late -> mine.done.tryComplete());
        BenchBed.await(mine.done.future());
        return mine.micros();
    }

    /** One event on its way. Each member's time is written on its own loop; the count publishes it. */
    private static final class Round {
        private final long[] arrivedNanos;
        private final AtomicInteger missing;
        private final Promise<Void> done = Promise.promise();
        private volatile long begunNanos;

        Round(int members) {
            this.arrivedNanos = new long[members];
            this.missing = new AtomicInteger(members);
        }

        void begin() {
            begunNanos = System.nanoTime();
        }

        void arrived(int index) {
            if (index < arrivedNanos.length && arrivedNanos[index] == 0) {
                arrivedNanos[index] = System.nanoTime();
                if (missing.decrementAndGet() == 0) {
                    done.tryComplete();
                }
            }
        }

        Histogram micros() {
            int unseen = missing.get();
            Histogram micros = new Histogram(LONGEST_MICROS, 3);
            for (long at : arrivedNanos) {
                if (at != 0 || unseen == 0) {
                    micros.recordValue(Math.min(LONGEST_MICROS, (at - begunNanos) / 1000));
                }
            }
            return micros;
        }
    }

    /** Calls for 0 … count - 1, some at a time on each loop; begins none after the limit. */
    private Passed forEach(int count, Duration limit, IntFunction<Future<Void>> call) throws Exception {
        long begun = System.nanoTime();
        AtomicInteger passed = new AtomicInteger();
        List<Future<Void>> ends = new ArrayList<>();
        for (int loop = 0; loop < LOOPS; loop++) {
            Lane lane = new Lane(loop, count, begun + limit.toNanos(), call, passed);
            loops.get(loop).runOnContext(now -> lane.start());
            ends.add(lane.done.future());
        }
        BenchBed.await(Future.all(ends).timeout(limit.toMillis() * 2, TimeUnit.MILLISECONDS));
        return new Passed(passed.get(), (System.nanoTime() - begun) / 1e9);
    }

    /** What one loop does of it. Only on that loop. */
    private static final class Lane {
        private final int count;
        private final long deadlineNanos;
        private final IntFunction<Future<Void>> call;
        private final AtomicInteger passed;
        private final Promise<Void> done = Promise.promise();
        private int next;
        private int running;

        Lane(int first, int count, long deadlineNanos, IntFunction<Future<Void>> call, AtomicInteger passed) {
            this.next = first;
            this.count = count;
            this.deadlineNanos = deadlineNanos;
            this.call = call;
            this.passed = passed;
        }

        void start() {
            for (int i = 0; i < WINDOW; i++) {
                running++;
                goOn();
            }
        }

        private void goOn() {
            if (next >= count || System.nanoTime() > deadlineNanos) {
                if (--running == 0) {
                    done.tryComplete();
                }
                return;
            }
            int index = next;
            next += LOOPS;
            call.apply(index).onFailure(done::tryFail).onSuccess(answered -> {
                passed.incrementAndGet();
                goOn();
            });
        }
    }

    @Override
    public void close() throws Exception {
        closing.set(true);
        List<Future<Void>> closed = new ArrayList<>();
        for (int i = 0; i < members.length(); i++) {
            SocketMember member = members.get(i);
            if (member != null) {
                closed.add(member.close());
            }
        }
        BenchBed.await(Future.join(closed).otherwiseEmpty());
        BenchBed.await(vertx.close());
    }
}
