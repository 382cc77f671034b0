package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.bed.PostgresSide;
import dev.hongbao.tools.chaos.check.Violation;
import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.Operation;
import dev.hongbao.tools.chaos.load.Api;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Claims every open packet to its last share, and one more; of a packet with very many shares, one. Blocking. */
final class LastShares {
    static final String CLAIMABLE = "I11 an open packet can be claimed to its last share";

    private static final int THREADS = 8;

    /** Shares of one packet: those with more are for {@link Probes}. */
    private static final int MOST_LEFT = 200;

    private static final String OPEN = "select p.id, p.count - count(t.slot) from packet as p left join transfer as t"
            + " on t.subject = p.id and t.slot is not null where p.closed_at is null"
            + " and p.expires_at > now() + interval '1 minute' group by p.id order by p.id";

    private final int servers;
    private final Queue<List<String>> packets;
    private final Queue<Violation> found = new ConcurrentLinkedQueue<>();

    private LastShares(int servers, List<List<String>> packets) {
        this.servers = servers;
        this.packets = new ConcurrentLinkedQueue<>(packets);
    }

    /** @param apis makes one for each of several threads. @return which cannot be claimed */
    static List<Violation> claim(PostgresSide postgres, int servers, Supplier<Api> apis) throws Exception {
        LastShares all = new LastShares(servers, postgres.rows(OPEN));
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> working = new ArrayList<>();
            for (Api api : IntStream.range(0, THREADS).mapToObj(i -> apis.get()).toList()) {
                working.add(threads.submit(() -> all.work(api)));
            }
            for (Future<?> each : working) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
        return List.copyOf(all.found);
    }

    private void work(Api api) {
        try (Api closed = api) {
            for (List<String> packet = packets.poll(); packet != null; packet = packets.poll()) {
                claimAll(api, packet.get(0), Integer.parseInt(packet.get(1)));
            }
        }
    }

    private void claimAll(Api api, String packet, int left) {
        int wanted = left > MOST_LEFT ? 1 : left;
        for (int i = 0; i < wanted; i++) {
            Operation claimed = api.perform(Call.claim("probe-last-" + i, packet, i % servers));
            if (!claimed.answer().isOk()) {
                found.add(new Violation(CLAIMABLE, packet + " has " + (left - i) + " shares left", List.of(claimed)));
                return;
            }
        }
        if (wanted == left) {
            Operation late = api.perform(Call.claim("probe-last-" + left, packet, left % servers));
            if (!late.answer().problem().equals("drained")) {
                found.add(new Violation(CLAIMABLE, packet + " has no share left", List.of(late)));
            }
        }
    }
}
