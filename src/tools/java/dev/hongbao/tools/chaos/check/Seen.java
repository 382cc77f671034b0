package dev.hongbao.tools.chaos.check;

import java.util.List;
import java.util.Set;

/**
 * All that the clients and the host of a run observed. Times are microseconds of the run's clock.
 *
 * @param quietMicros the end of the last fault; later calls only repeat earlier ones
 * @param earlier events that the host read during the run, in any order, with repeats
 * @param events the whole outbox at the end, from its beginning
 * @param delivered ids of all events that the webhook's receiver took
 * @param heard events that clients received over sockets; in the order of each client
 */
public record Seen(
        List<Operation> history,
        List<Trouble> troubles,
        List<Loss> losses,
        long quietMicros,
        List<Event> earlier,
        List<Event> events,
        Set<String> delivered,
        List<Heard> heard) {

    /** A fault at a server or its line to the clients: they may get no answer meanwhile. */
    public record Trouble(int server, long fromMicros, long toMicros) {}

    /** Postgres went back to its state at the beginning of this time (I13): the checker asks nothing of answers in it. */
    public record Loss(long fromMicros, long toMicros) {}

    /**
     * An event of the outbox.
     *
     * @param packet of packets and claims; else empty
     * @param slot of a claim; else -1
     * @param content all of it
     */
    public record Event(String id, String type, String packet, int slot, String content) {}

    /**
     * An event of the group's feed, as one client received it over a socket.
     *
     * @param stretch number of a time in which the client missed nothing: from a join without a cursor, or a reset, to the next one
     * @param cursor its place in the feed
     * @param fact type and subject
     */
    public record Heard(long stretch, long cursor, String fact, long micros) {}

    /** Whether a fault at its server excuses that an operation got no answer. */
    public static boolean excuses(List<Trouble> troubles, Operation operation) {
        return troubles.stream()
                .anyMatch(each -> each.server == operation.call().server()
                        && each.fromMicros <= operation.endMicros()
                        && each.toMicros >= operation.startMicros());
    }
}
