/**
 * Who is let into the race when more come than can be settled. {@link dev.hongbao.engine.admission.AdmissionControl} is one for
 * the whole server; each event loop asks a gate of its own, and nothing waits. One probability for all, shard by shard: what can
 * be settled divided by what arrives, over all servers.
 */
@NullMarked
package dev.hongbao.engine.admission;

import org.jspecify.annotations.NullMarked;
