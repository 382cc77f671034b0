/** Who may call, as whom, and how often: signed tokens (JWT) pinned to the configured keys, token buckets, and calls in flight. Limits are decided in this server's memory, shared by all faces and loops; what other servers used is taken into account once it is heard of. Thread-safe; bounded. */
@NullMarked
package dev.hongbao.web.access;

import org.jspecify.annotations.NullMarked;
