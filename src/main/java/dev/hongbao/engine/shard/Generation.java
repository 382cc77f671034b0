package dev.hongbao.engine.shard;

import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.redis.RedisLinks;

/**
 * One life of a shard in Redis. Recovery draws a new one: its keys and its scripts are stamped with it, so that whatever is
 * left of an older one changes nothing that counts (invariant I9).
 *
 * @param namespace the installation's, see {@link Installation}
 * @param shard 0 to the number of shards - 1; all keys of a shard share its hash tag
 * @param epoch grows with every recovery, 0 before the first
 * @param nonce random, so that two histories with the same epoch still differ
 */
public record Generation(String namespace, int shard, long epoch, String nonce) {

    /** What the scripts are stamped with and all keys begin with: {@code {5f3a90c1:3}:7-ab12cd34ef56}. */
    public String stamp() {
        return shardPrefix() + epoch + "-" + nonce;
    }

    /** What the keys of all generations of the shard begin with. */
    private String shardPrefix() {
        return shardPrefix(namespace, shard);
    }

    /** What every key of a shard begins with, also outside of all generations: one hash tag, and so one node of a cluster. */
    static String shardPrefix(String namespace, int shard) {
        return "{" + namespace + ":" + shard + "}:";
    }

    /** The stream of accepted entries that Postgres has not settled. */
    public String journalKey() {
        return key("journal");
    }

    /** Where recovery puts the journal, so that scripts of this generation find none. */
    public String retiredJournalKey() {
        return key("retired");
    }

    /** A key of which each shard has one. */
    public String key(String name) {
        return stamp() + ":" + name;
    }

    /** A key of something in the shard: a packet, a draw. @param kind tells its keys from others' */
    public String key(String kind, String id) {
        return stamp() + ":" + kind + ":" + id;
    }

    /** The sorted set, outside of all generations, of the latest epoch of the shard that Redis has seen. */
    public String epochsKey() {
        return shardPrefix() + "epochs";
    }

    /** A journal entry's full id in the stream. */
    public String entryId(long seq) {
        return epoch + "-" + seq;
    }

    /** Where commands about the shard's keys go; the same for all its generations. */
    public RedisLink link(RedisLinks redis) {
        return redis.linkFor(shardPrefix());
    }

    @Override
    public String toString() {
        return stamp();
    }
}
