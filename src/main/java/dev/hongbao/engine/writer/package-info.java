/** The persistence verticle: settles the journals into Postgres, owns shards, recovers them, sets poison aside. One owner per shard; a stale one changes nothing. Only the composition root reaches in. */
@NullMarked
package dev.hongbao.engine.writer;

import org.jspecify.annotations.NullMarked;
