package dev.hongbao.tools.chaos.fault;

import java.util.Set;

/**
 * One fault with its end.
 *
 * @param kind its name in the report
 * @param place what it hurts; one place has one fault at a time
 * @param servers numbers of the servers that may leave their clients without an answer meanwhile
 * @param heal runs even if {@code inject} fails
 */
public record Fault(String kind, String place, Set<Integer> servers, Step inject, Step heal) {
    /** Half of a fault; blocking. */
    public interface Step {
        /** @throws FaultMissedException if the fault did not come about */
        void run() throws Exception;
    }

    /** A fault did not come about: it is mended, and not counted. */
    public static final class FaultMissedException extends Exception {
        private static final long serialVersionUID = 1L;

        public FaultMissedException(String message) {
            super(message);
        }
    }

    /** Whether Postgres loses commits. */
    public boolean isLoss() {
        return kind.equals(Faults.RESTORED) || kind.equals(Faults.PROMOTED);
    }

    @Override
    public String toString() {
        return kind + " (" + place + ")";
    }
}
