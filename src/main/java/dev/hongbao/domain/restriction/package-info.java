/**
 * Restrictions: frozen or blocked users, blocked groups, and revoked tokens.
 *
 * <p>Life of a restriction: the host places it, and Postgres adds a row to an append-only history. {@code History} delivers the row to the
 * memory of every server within a second. It holds until the host lifts it, by another row. Revocations follow the same path.
 *
 * <p>Callers: {@code web}, for changes and at every call; {@code claim}, {@code play} and {@code rain}, for their checks. Thread-safe;
 * checks never wait.
 *
 * <p>Invariants: Postgres decides about money that leaves a wallet, under the wallet's lock. Memory decides about claims, free plays and
 * calls, at most a second late. Histories only grow.
 *
 * <p>Begin with {@code Restriction}, then {@code Restrictions} and {@code History}.
 */
@NullMarked
package dev.hongbao.domain.restriction;

import org.jspecify.annotations.NullMarked;
