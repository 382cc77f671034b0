/**
 * Values that every room shares: callers and their groups, ids, assets, refusals, pages; JSON and text at the edges.
 *
 * <p>A body, a frame or a token is read by {@code StrictJson} and becomes values, which validate themselves: a value that exists is valid. A
 * refusal is a {@code RefusedException} with a {@code Refusal}; the faces turn it into a problem. {@code JsonText} writes the answers, and
 * {@code Text} is a sentence in the reader's language.
 *
 * <p>All types are public: every room may use them, and they know no room. Invariant I12 holds here: integers are exact, and nothing is
 * rounded. Values are immutable and thread-safe, except for one flag in {@code IdempotencyKey}; readers and writers of JSON belong to one
 * thread.
 *
 * <p>Begin with {@code Caller}, {@code RefusedException} and {@code StrictJson}.
 */
@NullMarked
package dev.hongbao.values;

import org.jspecify.annotations.NullMarked;
