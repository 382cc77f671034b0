/**
 * Rains (红包雨): a campaign whose pools, the drops, the server itself opens, each at a moment drawn beforehand. A drop is a packet, sent,
 * raced for and closed by {@code domain.packet} and {@code domain.claim}; its budget, its limits and its end are those of {@code
 * domain.campaign}. Here is what is more: the moments, whom a rain is for, the view. Services belong to one event loop; stores and the
 * catalog are safe on any thread.
 */
@NullMarked
package dev.hongbao.domain.rain;

import org.jspecify.annotations.NullMarked;
