/** Strict JSON: the reader that refuses what it does not know, the writer, and the error that names the place. Pure functions, thread-safe. */
@NullMarked
package dev.hongbao.common.json;

import org.jspecify.annotations.NullMarked;
