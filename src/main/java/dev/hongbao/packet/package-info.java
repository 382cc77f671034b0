/**
 * Red packets: sending, claiming, closing, refunding.
 *
 * <p>{@code PacketSender} splits the amount and writes the packet with its transfer; {@code load.lua} makes it claimable. A claim gets its
 * early answers in {@code ClaimService}; {@code ClaimBatcher} takes it to {@code claim.lua}, which gives a slot: accepted.
 * {@code ClaimSettler} writes it with its amount on the shard's owner: settled. {@code PacketCloser} closes expired packets, and
 * {@code EarlyCloser} ends a packet for the host. {@code CloseSettler} refunds the remainder, and the keys leave Redis.
 * {@code PacketShardLoader} rewrites the keys in a recovery; {@code PacketComparison} checks them for {@code reconcile}.
 *
 * <p>Public: the door {@code Packets}; {@code ClaimService} and {@code PacketService}, which every face calls; {@code ClaimRoutes} and
 * {@code PacketBodies}, which frames share with HTTP; {@code PoolTerms} and {@code PacketKeys} for {@code campaign}; the nouns
 * {@code Packet}, {@code PacketView}, {@code Claim} and {@code SendCommand}. Services belong to one event loop; stores and caches are
 * thread-safe.
 *
 * <p>Terms and amounts never change after the send. Claims + paid refund + escrow = total (I1). One slot a user and one user a slot (I2).
 * Every later answer equals the first settled one (I6); a fault is a failed future, and its outcome is unknown (I7). A packet is refunded
 * exactly once, and no claim follows its close (I8).
 *
 * <p>Begin with {@code Packets}, which makes the services, then {@code PacketSender}, {@code ClaimService} and {@code ClaimSettler}. A call
 * begins in {@code PacketRoutes} or {@code ClaimRoutes}.
 */
@NullMarked
package dev.hongbao.packet;

import org.jspecify.annotations.NullMarked;
