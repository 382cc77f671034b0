package dev.hongbao.fuzz;

import java.util.List;

/** One kind of inputs. Used by many threads at once. */
public interface Kind {
    /** One word in lower case. */
    String name();

    /** How many of a hundred inputs are of this kind. */
    int share();

    /** How many inputs are given to {@link #send} at once. */
    default int batch() {
        return 1;
    }

    /**
     * Sends inputs, and looks at what comes of each. A thread waits here, at most as long as an answer may take.
     *
     * @throws Exception what nobody foresaw; it is a finding too
     */
    void send(List<Input> inputs, Findings findings) throws Exception;

    /** What must be true when all inputs were sent. */
    default void finish(Findings findings) throws Exception {}
}
