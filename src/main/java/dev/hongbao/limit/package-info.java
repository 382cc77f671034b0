/**
 * How often a user may call. Token buckets in this server's memory, shared by all faces and loops: with several servers
 * behind a balancer a user has the limit on each. Safe on any thread; bounded.
 */
@NullMarked
package dev.hongbao.limit;

import org.jspecify.annotations.NullMarked;
