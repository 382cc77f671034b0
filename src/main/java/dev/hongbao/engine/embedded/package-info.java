/**
 * Real Redis and Postgres as child processes, for a start with nothing installed. Linux on amd64 and arm64 only.
 *
 * <p>Everything here blocks: call it from a main or worker thread, never from an event loop. The children listen on
 * loopback only and ask for random passwords that are kept in the data directory.
 *
 * <p>Life: a data directory has one owner at a time. Its children end with the owner, however it ends: {@code close()},
 * exit or {@code kill -9}. A child that ends on its own is started again on the same port with the same data.
 */
@NullMarked
package dev.hongbao.engine.embedded;

import org.jspecify.annotations.NullMarked;
