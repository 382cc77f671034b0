/**
 * Rains (红包雨): campaigns whose pools, the drops, the server opens at drawn moments. A drop is a packet of {@code domain.packet}, claimed
 * through {@code domain.claim}. The budget, the limits and the return belong to {@code domain.campaign}.
 *
 * <p>Life of a rain: {@code RainService} draws the moments and writes the rain, its money and all drops in one transaction. The rain is
 * announced. Each drop opens at its moment, and its catches settle like claims. At the end or a cancel the drops close, and the remainder
 * returns to the sponsor. The seed is published.
 *
 * <p>Callers: {@code web}, through {@code RainService}, on its event loop; {@code feed}, which reads {@code RainCatalog} as its {@code
 * Channels}. The catalog is thread-safe.
 *
 * <p>Invariants: the whole budget is in the drops. Nobody sees a drop before its moment, not even the host. A user catches at most {@code
 * catchesPerUser} shares.
 *
 * <p>Begin with {@code RainDefinition}, then {@code RainService}.
 */
@NullMarked
package dev.hongbao.domain.rain;

import org.jspecify.annotations.NullMarked;
