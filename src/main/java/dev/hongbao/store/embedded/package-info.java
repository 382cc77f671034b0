/**
 * Real Redis and Postgres as child processes, for a start with nothing installed. Linux on amd64 and arm64 only.
 *
 * <p>A data directory has one owner at a time. The owner unpacks the binaries, starts both children and keeps them running. A
 * child that ends by itself is started again on the same port with the same data. The children end with their owner, however it
 * ends: {@code close()}, exit or {@code kill -9}.
 *
 * <p>Every method that starts or stops a child blocks: call it from a main or worker thread, never from an event loop. The
 * command line, tests and benchmarks call it. The children listen on loopback only and ask for random passwords from the data
 * directory. Begin with {@code EmbeddedServers}.
 */
@NullMarked
package dev.hongbao.store.embedded;

import org.jspecify.annotations.NullMarked;
