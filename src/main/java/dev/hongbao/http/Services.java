package dev.hongbao.http;

import dev.hongbao.claim.ClaimService;
import dev.hongbao.ledger.Wallets;
import dev.hongbao.packet.PacketService;

/**
 * What the face calls.
 *
 * @param claims of this event loop only
 * @param packets may be shared
 * @param wallets may be shared
 */
public record Services(ClaimService claims, PacketService packets, Wallets wallets) {}
