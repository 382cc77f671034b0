/** A shard and its generation: what this server knows of it, how its scripts are stamped and fenced, and how its owner is told that something is missing. Thread-safe. */
@NullMarked
package dev.hongbao.engine.shard;

import org.jspecify.annotations.NullMarked;
