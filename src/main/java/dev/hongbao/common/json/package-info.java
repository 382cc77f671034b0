/**
 * JSON at the edges: a strict reader, a fast writer, and errors that name the place of a fault.
 *
 * <p>A body or frame arrives as bytes. {@link StrictJson} turns it into a JSON object or refuses it. A refusal is an
 * {@link InvalidInputException}; its sentences are {@link Text}, shown in the reader's language. {@link JsonText} writes the
 * answers.
 *
 * <p>Every layer may call it. Invariant I12 holds here: integers are exact, and nothing is rounded. The readers are thread-safe;
 * a writer belongs to one thread. Begin with {@link StrictJson}.
 */
@NullMarked
package dev.hongbao.common.json;

import org.jspecify.annotations.NullMarked;
