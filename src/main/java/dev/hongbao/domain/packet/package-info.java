/** Packets: what they are, sending, reading and closing them. The terms of a packet never change after it was sent; what changes (claims, close) is in Postgres. */
@NullMarked
package dev.hongbao.domain.packet;

import org.jspecify.annotations.NullMarked;
