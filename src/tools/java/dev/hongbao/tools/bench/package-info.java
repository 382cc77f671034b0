/**
 * The benchmarks. A benchmark is a load and the rows of its report; {@link dev.hongbao.tools.bench.Trial} has the rounds.
 *
 * <p>A round runs each step of the load once. Rounds do not count until the JITs are quiet. Rounds alternate the order of their steps,
 * so that a row and its baseline see the same machine. Then the books are checked: a violation voids all numbers.
 *
 * <p>Beds: {@code BenchBed} is an engine in this process, {@code ServerBed} a server in its own process, {@code ClusterBed} several.
 * {@code HttpLoad} is the only HTTP client. All of it blocks on the command's thread. No other package uses a blocking Redis client.
 */
@NullMarked
package dev.hongbao.tools.bench;

import org.jspecify.annotations.NullMarked;
