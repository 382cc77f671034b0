/**
 * Packets: sending, reading and closing.
 *
 * <p>Life of a packet: {@code PacketSender} splits the amount and writes the packet with its transfer. {@code load.lua} makes it claimable.
 * {@code domain.claim} settles its claims. A full, expired or early ended packet is closed. The close refunds the remainder, and the keys
 * leave Redis.
 *
 * <p>Callers: {@code web}; {@code campaign} and {@code rain}, whose pools are packets; {@code claim}, {@code feed} and {@code reconcile}
 * for reading. {@code EarlyCloser} belongs to one event loop; everything else is thread-safe.
 *
 * <p>Invariants: a packet's terms and amounts never change after the send. Claims + paid refund + escrow = total (I1). A packet is refunded
 * exactly once, and no claim follows its close (I8).
 *
 * <p>Begin with {@code Packet}, then {@code PacketSender} and {@code CloseSettler}.
 */
@NullMarked
package dev.hongbao.domain.packet;

import org.jspecify.annotations.NullMarked;
