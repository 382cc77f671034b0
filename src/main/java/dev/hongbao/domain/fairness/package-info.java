/**
 * Proof of fairness: what is committed to before a race, and the check of it afterwards. No clock and no store; only {@code Evidence} reads,
 * from the stream that it is given. What is immutable says so and is safe on any thread; the rest is for one. The bytes that are digested are a format, which other programs compute too: it never changes.
 */
@NullMarked
package dev.hongbao.domain.fairness;

import org.jspecify.annotations.NullMarked;
