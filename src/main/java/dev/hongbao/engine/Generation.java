package dev.hongbao.engine;

import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;

/**
 * One life of a shard in Redis. Recovery draws a new one and stamps its keys and scripts with it. So remains of an older
 * generation change nothing that counts (invariant I9). Immutable.
 *
 * @param namespace the installation's, see {@link Installation}
 * @param shard 0 to the number of shards - 1; all keys of a shard share its hash tag
 * @param epoch grows with every recovery, 0 before the first
 * @param nonce random, so that two histories with one epoch still differ
 */
public record Generation(String namespace, int shard, long epoch, String nonce) {

    /** The stamp of the scripts, and the prefix of all keys: {@code {5f3a90c1:3}:7-ab12cd34ef56}. */
    public String stamp() {
        return shardPrefix() + epoch + "-" + nonce;
    }

    private String shardPrefix() {
        return shardPrefix(namespace, shard);
    }

    /** The prefix of every key of a shard, also outside of generations. It is one hash tag, and so one node of a cluster. */
    static String shardPrefix(String namespace, int shard) {
        return "{" + namespace + ":" + shard + "}:";
    }

    /** The stream of accepted entries that Postgres has not settled. */
    public String journalKey() {
        return key("journal");
    }

    /** The key to which recovery renames the journal, so that scripts of this generation find none. */
    public String retiredJournalKey() {
        return key("retired");
    }

    /** A key that each shard has once. */
    public String key(String name) {
        return stamp() + ":" + name;
    }

    /**
     * The key of a packet or draw.
     *
     * @param kind distinguishes the kinds of keys
     */
    public String key(String kind, String id) {
        return stamp() + ":" + kind + ":" + id;
    }

    /** The sorted set, outside of generations, with the latest epoch of the shard that Redis has seen. */
    public String epochsKey() {
        return shardPrefix() + "epochs";
    }

    /** A journal entry's full id in the stream. */
    public String entryId(long seq) {
        return epoch + "-" + seq;
    }

    /** The route of commands about the shard's keys; equal for all its generations. */
    public RedisLink link(RedisLinks redis) {
        return redis.linkFor(shardPrefix());
    }

    @Override
    public String toString() {
        return stamp();
    }
}
