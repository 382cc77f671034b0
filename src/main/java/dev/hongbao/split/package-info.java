/** The split: a pure function of algorithm, seed, total, count, min and max to the amounts of the shares. No I/O, no Vert.x, safe on any thread. */
@NullMarked
package dev.hongbao.split;

import org.jspecify.annotations.NullMarked;
