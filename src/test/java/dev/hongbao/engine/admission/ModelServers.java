package dev.hongbao.engine.admission;

import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.engine.journal.ShardCounts;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Some servers and one shard in steps of a millisecond, without threads and without a real clock: claims come to each, those that are let
 * in queue for one writer, which settles them in lumps.
 */
final class ModelServers {
    static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final int SHARD = 0;
    private static final int TICK_MILLIS = (int) AdmissionControl.TICK.toMillis();

    /** From a measure to the terms that are made of it. */
    private static final int HEARD_MILLIS = 30;

    private final List<Server> servers = new ArrayList<>();
    private final Deque<Claim> queue = new ArrayDeque<>();
    private final int lumpMillis;
    private final int places;
    private long millis;
    private boolean exchanging = true;
    private int longestMillis;

    /** A second's settlements. */
    double capacity;

    /** So much more of them each second. */
    double warming;

    private record Claim(Server server, long atMillis) {}

    /** One server. */
    final class Server {
        final AdmissionControl control = new AdmissionControl(
                1,
                new AdmissionControl.Settings(TIMEOUT, places, 256),
                new SimpleMeterRegistry(),
                () -> millis * 1_000_000);
        private final ShardCounts waiting = new ShardCounts(1);
        private final ShardCounts settled = new ShardCounts(1);
        final AdmissionGate gate = control.gate(waiting, settled);
        private final int phase = servers.size() * 4;
        private Map<Integer, Flow> told = Map.of();
        private double due;

        /** Claims a second that come here. */
        double perSecond;

        /** Of those that are let in, the part that needs no settlement: nothing is left for them. */
        double idle;

        private double idleDue;
        long offered;
        long admitted;

        private void arrive() {
            for (due += perSecond / 1000; due >= 1; due--) {
                offered++;
                if (gate.refusal(SHARD, waiting.of(SHARD) >= places) == null) {
                    admitted++;
                    gate.arrived(SHARD);
                    idleDue += idle;
                    if (idleDue >= 1) {
                        idleDue--;
                    } else {
                        waiting.add(SHARD, 1);
                        queue.add(new Claim(this, millis));
                    }
                }
            }
        }

        private void exchange() {
            if (millis % TICK_MILLIS == phase) {
                told = control.measure();
            }
            if (millis % TICK_MILLIS == phase + HEARD_MILLIS) {
                servers.stream()
                        .filter(other -> exchanging && other != this && !other.told.isEmpty())
                        .forEach(other -> control.heard("server" + servers.indexOf(other), other.told));
                control.decide();
            }
        }

        /** So many more, at once. @return who were refused */
        int crowd(int claims) {
            long before = offered - admitted;
            due += claims;
            arrive();
            return (int) (offered - admitted - before);
        }

        /** One claim more, at once. */
        @Nullable
        UnavailableException ask() {
            return gate.refusal(SHARD, false);
        }

        double chance() {
            return control.terms(SHARD).chance();
        }

        double admittedPart() {
            return (double) admitted / offered;
        }
    }

    /**
     * @param capacity claims that are settled in a second
     * @param lumpMillis between two settlements
     */
    ModelServers(int count, double capacity, int lumpMillis) {
        this(count, capacity, lumpMillis, 10_000);
    }

    /** @param places claims that may wait at each */
    ModelServers(int count, double capacity, int lumpMillis, int places) {
        this.capacity = capacity;
        this.lumpMillis = lumpMillis;
        this.places = places;
        for (int i = 0; i < count; i++) {
            servers.add(new Server());
        }
    }

    Server server(int index) {
        return servers.get(index);
    }

    /** Nobody hears of the others any more. */
    void cutOff() {
        exchanging = false;
    }

    /** Claims that were let in and are not settled. */
    int backlog() {
        return queue.size();
    }

    /** The longest that anybody has waited who was settled, in milliseconds. */
    int longestMillis() {
        return longestMillis;
    }

    /** Goes on for a while. @return claims that were settled meanwhile */
    long run(Duration length) {
        long settled = 0;
        for (long until = millis + length.toMillis(); millis < until; millis++) {
            servers.forEach(Server::arrive);
            capacity += warming / 1000;
            if (millis % lumpMillis == 0) {
                settled += settle();
            }
            servers.forEach(Server::exchange);
        }
        return settled;
    }

    private long settle() {
        long most = Math.round(capacity * lumpMillis / 1000);
        long done = 0;
        for (; done < most && !queue.isEmpty(); done++) {
            Claim claim = queue.remove();
            claim.server.waiting.add(SHARD, -1);
            claim.server.settled.add(SHARD, 1);
            longestMillis = (int) Math.max(longestMillis, millis - claim.atMillis);
        }
        return done;
    }
}
