/**
 * Values that every layer shares: callers and their groups, ids, idempotency keys, refusals and pages.
 *
 * <p>The edges make them from tokens and bodies, and validate them there. So a value that exists is valid. The domain returns
 * refusals as {@link RefusedException} with a {@link Refusal}; the edges turn them into problems.
 *
 * <p>Every layer may call it. The values are immutable and thread-safe, except for one flag in {@link IdempotencyKey}. Nothing
 * here knows Vert.x. Begin with {@link Caller} and {@link Refusal}.
 */
@NullMarked
package dev.hongbao.common.values;

import org.jspecify.annotations.NullMarked;
