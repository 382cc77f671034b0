package dev.hongbao.tools.bench.model;

import org.jspecify.annotations.Nullable;

/**
 * What there is.
 *
 * @param servers each owns an equal part of the shards, and settles them on connections of its own
 * @param coresEach of a server
 * @param nodes masters of Redis, with a core each
 * @param postgresCores of the one primary
 * @param shards spread evenly over servers and nodes
 * @param shared null: each has cores of its own; else all of them, and the load, have these alone
 */
public record Deployment(
        int servers,
        int coresEach,
        int nodes,
        int postgresCores,
        int shards,
        @Nullable Shared shared) {
    public Deployment {
        if (servers < 1 || coresEach < 1 || nodes < 1 || postgresCores < 1 || shards < 1) {
            throw new IllegalArgumentException("a deployment has at least one of each");
        }
    }

    /**
     * One machine for all.
     *
     * @param cores of the machine
     * @param loadMicros of a core that the load takes for each claim
     * @param restCores cores that all processes take while nobody claims
     */
    public record Shared(int cores, double loadMicros, double restCores) {}
}
