package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.Operation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;

/** What all simulated clients share: who there is, and what has been sent lately. Thread-safe. */
public final class World {
    /** Few enough that somebody often asks for what he has. */
    private static final int USERS = 120;

    private static final int RECENT = 40;

    /** Begins the names of all who race; a number follows. */
    static final String RACER = "user-race-";

    private final int servers;
    private final String draw;
    private final String campaign;
    private final List<String> users = users();
    private final Deque<String> recent = new ArrayDeque<>();
    private volatile boolean stopping;

    /**
     * @param draw what is played
     * @param campaign whose pools are opened
     */
    public World(int servers, String draw, String campaign) {
        this.servers = servers;
        this.draw = draw;
        this.campaign = campaign;
    }

    /** Who sends what is raced for in a race: one for each, since a user may send so many shares a second. */
    public static String raceSender(int race) {
        return "user-sends-race-" + race;
    }

    public int servers() {
        return servers;
    }

    /** One of the servers. */
    int server(SplittableRandom random) {
        return random.nextInt(servers);
    }

    /** One of the users. */
    String user(SplittableRandom random) {
        return users.get(random.nextInt(users.size()));
    }

    /** A packet for the group. Most are soon over: drained by many, or expired. */
    Call send(SplittableRandom random, String user, String key, int server) {
        int shares = random.nextInt(8) == 0 ? 20 + random.nextInt(60) : 1 + random.nextInt(10);
        int seconds = random.nextInt(10) < 6 ? 2 + random.nextInt(12) : 3_600;
        long amount = shares * (1 + (long) random.nextInt(300));
        return new Call(Call.Kind.SEND, user, Call.terms(shares, seconds), key, amount, server);
    }

    String draw() {
        return draw;
    }

    String campaign() {
        return campaign;
    }

    /** Everybody who sends and claims. */
    public static List<String> users() {
        List<String> users = new ArrayList<>();
        for (int i = 0; i < USERS; i++) {
            users.add("user-" + i);
        }
        return users;
    }

    /** Remembers a packet that was sent, and forgets the oldest. */
    void learn(Operation operation) {
        Call.Kind kind = operation.call().kind();
        if ((kind == Call.Kind.SEND || kind == Call.Kind.POOL)
                && operation.answer().isOk()) {
            learn(operation.answer().id());
        }
    }

    /** The same of a packet that nobody asked for, such as a rain's drop. */
    public void learn(String packet) {
        synchronized (recent) {
            recent.addFirst(packet);
            if (recent.size() > RECENT) {
                recent.removeLast();
            }
        }
    }

    /** A packet that was sent lately, rather one of the latest; empty when there is none. */
    String packet(SplittableRandom random) {
        synchronized (recent) {
            if (recent.isEmpty()) {
                return "";
            }
            int back = Math.min(random.nextInt(recent.size()), random.nextInt(recent.size()));
            return recent.stream().skip(back).findFirst().orElse("");
        }
    }

    boolean isStopping() {
        return stopping;
    }

    /** Every client ends after the call that it is at. */
    public void stop() {
        stopping = true;
    }
}
