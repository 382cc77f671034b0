/**
 * Strict JSON: the reader that refuses what it does not know, the writer, and the error that names the place, in a
 * {@link dev.hongbao.common.json.Text} of any language. Pure functions, thread-safe.
 */
@NullMarked
package dev.hongbao.common.json;

import org.jspecify.annotations.NullMarked;
