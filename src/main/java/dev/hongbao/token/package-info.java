/** Signed tokens (JWT): who may call as whom. Verification is pinned to the configured algorithm and keys. */
@NullMarked
package dev.hongbao.token;

import org.jspecify.annotations.NullMarked;
