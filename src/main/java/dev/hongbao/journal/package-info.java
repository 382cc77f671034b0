/** Accepted to settled: shards and their generations, the journal in Redis, the persistence verticle that settles it into Postgres, and recovery. One owner per shard; a stale one changes nothing. */
@NullMarked
package dev.hongbao.journal;

import org.jspecify.annotations.NullMarked;
