/**
 * Access: who may call, how often, and what is written down of it.
 *
 * <p>A token (JWT) is verified against the configured keys, and gives a caller. Revocations, restrictions and rate limits are checked in
 * memory; {@code History} brings every change to all servers within a second. The call of the host's backend, and each refused call,
 * becomes a row of the audit log. A profile is a user's name and picture, from the token or the host.
 *
 * <p>Public is what the server makes once and what other rooms ask; routes, keys and histories are hidden. {@code Access} is the gate of
 * HTTP and of the sockets, and makes the room's routes. {@code packet}, {@code draw} and {@code campaign} ask {@code Restrictions} and
 * {@code RateLimits}. Thread-safe; checks never wait.
 *
 * <p>Postgres decides about money that leaves a wallet, under the wallet's lock; memory decides about claims, free plays and calls, at
 * most a second late. Histories and the audit log only grow. Rows hold no token, no passcode, and no part of a body except the host's own
 * reference.
 *
 * <p>Begin with {@code Access}, then {@code TokenTrust}, {@code Tokens}, {@code Restrictions} and {@code AuditLog}.
 */
@NullMarked
package dev.hongbao.access;

import org.jspecify.annotations.NullMarked;
