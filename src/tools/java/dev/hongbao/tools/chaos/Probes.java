package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.PostgresSide;
import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Call.Kind;
import dev.hongbao.tools.chaos.load.Api;
import dev.hongbao.tools.chaos.load.History;
import dev.hongbao.tools.local.Threads;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Claims at every server on a packet of every shard, until each claim is settled. Confined to one thread; blocking. */
final class Probes {
    private static final int SHARES = 10_000;
    private static final int SECONDS = 86_400;
    private static final long PAUSE_MILLIS = 20;
    private static final int MOST_PACKETS = 500;
    private static final String SENDER = "probe-sender";

    private final History history;
    private final Api api;
    private final List<String> packets = new ArrayList<>();
    private long users;

    Probes(History history, Api api) {
        this.history = history;
        this.api = api;
    }

    /** Sends packets until every shard has one. */
    void prepare(PostgresSide postgres) throws SQLException {
        api.perform(new Call(Kind.DEPOSIT, SENDER, "", "probe-deposit", (long) SHARES * MOST_PACKETS, 0));
        Map<String, String> byShard = new TreeMap<>();
        for (int i = 0; i < MOST_PACKETS && byShard.size() < ChaosBed.SHARDS; i++) {
            Call send = new Call(Kind.SEND, SENDER, Call.terms(SHARES, SECONDS), "probe-send-" + i, SHARES, 0);
            String packet = api.perform(send).answer().id();
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

    /** Returns when all claims are settled, or after the limit. @return a line for each unsettled one */
    List<String> awaitSettled(long limitMillis) throws Exception {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
        List<Callable<List<String>>> all = new ArrayList<>();
        for (int server = 0; server < api.servers(); server++) {
            for (int shard = 0; shard < packets.size(); shard++) {
                Call call = Call.claim("probe-" + ++users, packets.get(shard), server);
                String what = "server " + server + " settles nothing in shard " + shard;
                all.add(() -> isSettled(call, until) ? List.of() : List.of(what));
            }
        }
        return Threads.all(all.size(), all).stream().flatMap(List::stream).toList();
    }

    private boolean isSettled(Call call, long until) throws InterruptedException {
        while (!api.perform(call).answer().isOk()) {
            if (System.nanoTime() > until) {
                history.note("not settled in time: " + call);
                return false;
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
        return true;
    }
}
