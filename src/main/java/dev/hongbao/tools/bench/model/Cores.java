package dev.hongbao.tools.bench.model;

import java.util.ArrayDeque;
import java.util.Deque;

/** Cores that take pieces of work in the order in which they come; a piece is not interrupted. Confined to one thread. */
final class Cores {
    private final Simulation simulation;
    private final Deque<Piece> waiting = new ArrayDeque<>();
    private int free;

    private record Piece(double micros, Runnable done) {}

    Cores(Simulation simulation, int count) {
        this.simulation = simulation;
        this.free = count;
    }

    /** Does it as soon as a core is free. */
    void work(double micros, Runnable done) {
        if (free == 0) {
            waiting.add(new Piece(micros, done));
        } else {
            begin(micros, done);
        }
    }

    private void begin(double micros, Runnable done) {
        free--;
        simulation.after(micros, () -> {
            free++;
            Piece next = waiting.poll();
            if (next != null) {
                begin(next.micros, next.done);
            }
            done.run();
        });
    }
}
