/** Processes of one machine that belong together, for benchmarks, chaos and tests: nodes of Redis with one password, a Redis Cluster of them, ports where servers find each other. Blocking, on loopback only. */
@NullMarked
package dev.hongbao.tools.local;

import org.jspecify.annotations.NullMarked;
