/**
 * Processes on loopback, their proxies and clients, for benchmarks, chaos, the demo and tests. {@code ChildServer} and {@code CommandServer}
 * are servers, {@code RedisProcesses} and {@code LocalRedisCluster} stores. Blocking.
 */
@NullMarked
package dev.hongbao.tools.local;

import org.jspecify.annotations.NullMarked;
