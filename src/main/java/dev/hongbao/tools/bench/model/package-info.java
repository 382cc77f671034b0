/** A queueing model of a deployment, as a simulation: what {@code bench cluster} measured on one machine, carried over to many. Pure: no clock but the simulated one, no chance but from a seed. Confined to one thread. */
@NullMarked
package dev.hongbao.tools.bench.model;

import org.jspecify.annotations.NullMarked;
