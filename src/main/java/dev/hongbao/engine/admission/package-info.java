/**
 * Who is let into the race when more come than can be settled. {@link dev.hongbao.engine.admission.AdmissionControl} is one for
 * the whole server; each event loop asks gates of its own, and nothing waits. What waits is kept to what is settled in a part of the
 * timeout, shard by shard, over all servers; beyond that there is one chance for all.
 */
@NullMarked
package dev.hongbao.engine.admission;

import org.jspecify.annotations.NullMarked;
