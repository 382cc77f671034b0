package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.PostgresSide;
import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.history.History;
import dev.hongbao.tools.chaos.history.Operation;
import dev.hongbao.tools.chaos.load.Api;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Claims through every server on a packet of every shard, again and again until each is settled: so long does it take until all is well.
 * Confined to one thread; blocking.
 */
final class Probes implements AutoCloseable {
    private static final int SHARES = 10_000;
    private static final int SECONDS = 86_400;
    private static final long PAUSE_MILLIS = 20;
    private static final int MOST_PACKETS = 500;
    private static final String SENDER = "probe-sender";

    private final History history;
    private final int servers;
    private final List<String> packets = new ArrayList<>();
    private final ExecutorService threads;
    private final List<Api> apis = new ArrayList<>();
    private final AtomicLong users = new AtomicLong();

    /** @param api makes one for each of several threads */
    Probes(History history, int servers, Supplier<Api> api) {
        this.history = history;
        this.servers = servers;
        int lines = servers * ChaosBed.SHARDS;
        this.threads = Executors.newFixedThreadPool(lines);
        for (int i = 0; i < lines; i++) {
            apis.add(api.get());
        }
    }

    /** Sends packets until every shard has one. */
    void prepare(PostgresSide postgres) throws SQLException {
        Api api = apis.get(0);
        api.perform(new Call(Kind.DEPOSIT, SENDER, "", "probe-deposit", (long) SHARES * MOST_PACKETS, 0));
        Map<String, String> byShard = new TreeMap<>();
        for (int i = 0; i < MOST_PACKETS && byShard.size() < ChaosBed.SHARDS; i++) {
            Operation sent =
                    api.perform(new Call(Kind.SEND, SENDER, Call.terms(SHARES, SECONDS), "probe-send-" + i, SHARES, 0));
            String packet = sent.answer().id();
            if (!packet.isEmpty()) {
                postgres.rows("select shard from packet where id = '" + packet + "'")
                        .forEach(row -> byShard.putIfAbsent(row.get(0), packet));
            }
        }
        if (byShard.size() < ChaosBed.SHARDS) {
            throw new IllegalStateException("not every shard has a packet");
        }
        packets.addAll(byShard.values());
    }

    /** Returns when each is settled, or the limit is over. @return what is not: a line each */
    List<String> awaitSettled(long limitMillis) throws Exception {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
        List<Future<List<String>>> all = new ArrayList<>();
        for (int server = 0; server < servers; server++) {
            for (int shard = 0; shard < packets.size(); shard++) {
                Api api = apis.get(server * packets.size() + shard);
                Call call = Call.claim("probe-" + users.incrementAndGet(), packets.get(shard), server);
                String what = "server " + server + " settles nothing in shard " + shard;
                all.add(threads.submit(() -> isSettled(api, call, until) ? List.of() : List.of(what)));
            }
        }
        List<String> late = new ArrayList<>();
        for (Future<List<String>> each : all) {
            late.addAll(each.get());
        }
        return late;
    }

    private boolean isSettled(Api api, Call call, long until) throws InterruptedException {
        while (!api.perform(call).answer().isOk()) {
            if (System.nanoTime() > until) {
                history.note("not settled in time: " + call);
                return false;
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
        return true;
    }

    @Override
    public void close() {
        threads.shutdownNow();
        apis.forEach(Api::close);
    }
}
