package dev.hongbao.tools.chaos.check;

/**
 * An event of the outbox as a host reads it.
 *
 * @param id the same each time
 * @param packet of packets and claims; empty for the rest
 * @param slot of a claim, else -1
 * @param fact the type and all that it says
 */
public record Told(String id, String type, String packet, int slot, String fact) {}
