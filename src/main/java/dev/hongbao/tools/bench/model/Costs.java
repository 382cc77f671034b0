package dev.hongbao.tools.bench.model;

/** What a claim costs each part, in microseconds. All are 0 or more. */
public record Costs(Server server, Redis redis, Postgres postgres) {
    /**
     * Time of cores of the servers.
     *
     * @param claim each claim, where it comes in
     * @param settlement each transaction, at the shards' owner
     */
    public record Server(double claim, double settlement) {}

    /**
     * Time of a node's one thread.
     *
     * @param claim each claim
     * @param turn each time it wakes up, however many calls of the script it then finds
     */
    public record Redis(double claim, double turn) {}

    /**
     * Time of Postgres.
     *
     * @param claim of its cores, for each claim
     * @param settlement of its cores, for each transaction
     * @param commit until the disk, and the line to it, have answered; several transactions wait at once
     */
    public record Postgres(double claim, double settlement, double commit) {}
}
