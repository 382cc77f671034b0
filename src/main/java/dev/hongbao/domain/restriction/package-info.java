/**
 * Users who are frozen or blocked, groups that are blocked, and tokens that are revoked: append-only histories in Postgres, and what is in force in the
 * memory of every server. Postgres decides about money that leaves a wallet; the memory decides about claims, free plays and calls, at most a second late.
 * Thread-safe.
 */
@NullMarked
package dev.hongbao.domain.restriction;

import org.jspecify.annotations.NullMarked;
