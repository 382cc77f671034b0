/**
 * Claims: who gets which share of a packet.
 *
 * <p>Life of a claim: {@code ClaimService} gives the early answers, and admits it. {@code ClaimBatcher} takes it to {@code claim.lua}, which
 * gives a slot: accepted. {@code ClaimSettler} writes it with its amount on the shard's owner: settled. The waiting request is answered, on other servers
 * through {@code SettledClaims.Wire}.
 *
 * <p>Callers: {@code web}, through {@code ClaimService}, on its event loop; {@code server}, which wires the settler; {@code feed}, which
 * listens to settled claims. Each event loop has its own batcher and its own Redis connection.
 *
 * <p>Invariants: one slot a user and one user a slot (I2). Every later answer equals the first settled one (I6). Outcomes are a closed set;
 * a fault is a failed future, and its outcome is unknown (I7).
 *
 * <p>Begin with {@code ClaimService}, then {@code ClaimSettler}.
 */
@NullMarked
package dev.hongbao.domain.claim;

import org.jspecify.annotations.NullMarked;
