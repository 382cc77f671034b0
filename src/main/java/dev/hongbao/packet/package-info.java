/**
 * Red packets: sending, claiming, closing, refunding.
 *
 * <p>{@code PacketSender} splits the amount and writes the packet with its transfer; {@code load.lua} makes it claimable. A claim gets its
 * early answers in {@code ClaimService}; {@code ClaimBatcher} takes it to {@code claim.lua}, which gives a slot: accepted. {@code
 * ClaimSettler} writes it with its amount on the shard's owner: settled. A full, expired or early ended packet is closed; the close
 * refunds the remainder, and the keys leave Redis.
 *
 * <p>{@code campaign} makes packets of its pools; {@code feed}, {@code webhook}, {@code fairness} and {@code reconcile} read. Services
 * belong to one event loop; stores and caches are thread-safe.
 *
 * <p>Terms and amounts never change after the send. Claims + paid refund + escrow = total (I1). One slot a user and one user a slot (I2).
 * Every later answer equals the first settled one (I6); a fault is a failed future, and its outcome is unknown (I7). A packet is refunded
 * exactly once, and no claim follows its close (I8).
 *
 * <p>Begin with {@code Packets}, which makes the services, then {@code PacketSender}, {@code ClaimService} and {@code ClaimSettler}.
 */
@NullMarked
package dev.hongbao.packet;

import org.jspecify.annotations.NullMarked;
