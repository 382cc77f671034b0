/** Simulated clients: each is a thread with connections of its own, which does what its random numbers say and keeps what it was told. */
@NullMarked
package dev.hongbao.tools.chaos.load;

import org.jspecify.annotations.NullMarked;
