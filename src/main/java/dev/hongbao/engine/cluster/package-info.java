/** What servers tell each other: a fast path and never a truth. Every message may be lost, doubled, late or malformed; journals, cursors and tables decide, and the polls find what was not told. */
@NullMarked
package dev.hongbao.engine.cluster;

import org.jspecify.annotations.NullMarked;
