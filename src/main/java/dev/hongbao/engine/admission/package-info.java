/**
 * The refusal of claims and plays that cannot be settled in time. {@link dev.hongbao.engine.admission.AdmissionControl} is one for
 * the server; each event loop asks a gate of its own, and nothing waits. Begin there.
 */
@NullMarked
package dev.hongbao.engine.admission;

import org.jspecify.annotations.NullMarked;
