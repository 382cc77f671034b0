package dev.hongbao.tools.chaos.fault;

import java.util.Set;

/**
 * One thing that goes wrong, and then is well again.
 *
 * @param kind its name in the report
 * @param place what it hurts; nothing is hurt in two ways at once
 * @param servers the numbers of those whose clients may be left without an answer meanwhile
 */
public record Fault(String kind, String place, Set<Integer> servers, Step inject, Step heal) {
    /** Half of a fault; blocking. */
    public interface Step {
        void run() throws Exception;
    }

    /** For what is over as soon as it has happened. */
    static final Step NOTHING = () -> {};

    @Override
    public String toString() {
        return kind + " (" + place + ")";
    }
}
