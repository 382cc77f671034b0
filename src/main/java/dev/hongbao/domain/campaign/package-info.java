/**
 * Campaigns: a sponsor's budget, from which its users open pools. A pool is a packet that the campaign pays, sent, raced for and closed
 * by {@code domain.packet} and {@code domain.claim}; here is what is before and after it: the definition, its budget, who may open,
 * the end, the report. Services belong to one event loop; stores and the catalog are safe on any thread.
 */
@NullMarked
package dev.hongbao.domain.campaign;

import org.jspecify.annotations.NullMarked;
