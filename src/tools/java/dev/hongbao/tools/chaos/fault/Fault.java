package dev.hongbao.tools.chaos.fault;

import java.util.Set;

/**
 * One thing that goes wrong, and then is well again.
 *
 * @param kind its name in the report
 * @param place what it hurts; what is hurt in one way is not hurt in another at the same time
 * @param step of the server's work that it waits for; empty for none. Such a fault comes before others, which may keep the work from
 *     getting there
 * @param servers the numbers of those whose clients may be left without an answer meanwhile
 * @param heal is run also when {@code inject} has failed
 */
public record Fault(String kind, String place, String step, Set<Integer> servers, Step inject, Step heal) {
    /** Half of a fault; blocking. */
    public interface Step {
        /** @throws FaultMissedException when nothing has gone wrong */
        void run() throws Exception;
    }

    /** What was to go wrong has not happened: it is mended like a fault, and not counted. */
    public static final class FaultMissedException extends Exception {
        private static final long serialVersionUID = 1L;

        public FaultMissedException(String message) {
            super(message);
        }
    }

    /** For what is over as soon as it has happened. */
    public static final Step NOTHING = () -> {};

    /** One that waits for nothing. */
    Fault(String kind, String place, Set<Integer> servers, Step inject, Step heal) {
        this(kind, place, "", servers, inject, heal);
    }

    /** Whether Postgres forgets what it was told meanwhile. */
    public boolean isLoss() {
        return kind.equals(PostgresFaults.RESTORED) || kind.equals(PostgresFaults.PROMOTED);
    }

    /** Whether it waits for a step of the server's work. */
    public boolean awaitsStep() {
        return !step.isEmpty();
    }

    @Override
    public String toString() {
        return kind + " (" + place + (step.isEmpty() ? "" : ", " + step) + ")";
    }
}
