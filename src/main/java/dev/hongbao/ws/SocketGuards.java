package dev.hongbao.ws;

import dev.hongbao.command.UserId;
import dev.hongbao.config.SocketConfig;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/** How many connections there are of whom, over all event loops of this server. Safe on any thread. */
public final class SocketGuards {
    private final SocketConfig config;
    private final ConcurrentMap<String, Integer> byAddress = new ConcurrentHashMap<>();
    private final ConcurrentMap<UserId, Integer> byUser = new ConcurrentHashMap<>();
    private final AtomicInteger unauthenticated = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger();

    public SocketGuards(SocketConfig config) {
        this.config = config;
    }

    /** Open connections. */
    public int open() {
        return open.get();
    }

    /** Counts a connection of an address; false, and nothing is counted, when it has too many. */
    boolean enterAddress(String address) {
        if (!enter(byAddress, address, config.maxPerAddress())) {
            return false;
        }
        open.incrementAndGet();
        return true;
    }

    void leaveAddress(String address) {
        open.decrementAndGet();
        leave(byAddress, address);
    }

    /** Counts a connection of a user; false, and nothing is counted, when it has too many. */
    boolean enterUser(UserId user) {
        return enter(byUser, user, config.maxPerUser());
    }

    void leaveUser(UserId user) {
        leave(byUser, user);
    }

    /** Counts a connection without a token; false, and nothing is counted, when there are too many. */
    boolean enterUnauthenticated() {
        if (unauthenticated.incrementAndGet() > config.maxUnauthenticated()) {
            unauthenticated.decrementAndGet();
            return false;
        }
        return true;
    }

    void leaveUnauthenticated() {
        unauthenticated.decrementAndGet();
    }

    private static <K> boolean enter(ConcurrentMap<K, Integer> counts, K key, int most) {
        boolean[] entered = new boolean[1];
        counts.compute(key, (same, count) -> {
            int before = count == null ? 0 : count;
            entered[0] = before < most;
            return entered[0] ? Integer.valueOf(before + 1) : count;
        });
        return entered[0];
    }

    private static <K> void leave(ConcurrentMap<K, Integer> counts, K key) {
        counts.computeIfPresent(key, (same, count) -> count == 1 ? null : Integer.valueOf(count - 1));
    }
}
