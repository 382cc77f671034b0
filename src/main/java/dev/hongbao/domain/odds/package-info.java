/**
 * What a prize draw promises: its definition and the definition's rules, which prize a play takes, and when scheduled prizes are
 * released. Pure and without a store. {@code play.lua} does the same in Redis; {@link dev.hongbao.domain.odds.DrawModel} is its twin
 * for simulations, and the tests hold one against the other, number by number. Single-threaded; nothing here reads a clock.
 */
@NullMarked
package dev.hongbao.domain.odds;

import org.jspecify.annotations.NullMarked;
