/**
 * The mathematics of prize draws, pure and without a store: which prize a play takes, and when scheduled prizes are released.
 * {@code play.lua} does the same in Redis; {@link dev.hongbao.odds.DrawModel} is its twin for simulations, and the tests hold
 * one against the other, number by number. Single-threaded; nothing here reads a clock or makes its own chance.
 */
@NullMarked
package dev.hongbao.odds;

import org.jspecify.annotations.NullMarked;
