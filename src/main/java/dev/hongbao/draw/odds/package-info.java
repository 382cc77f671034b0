/**
 * Odds: the definition of a prize draw, its rules, and the choice of prizes.
 *
 * <p>From a definition to a prize: {@code DefinitionText} reads it by {@code FieldReader}, and {@code DefinitionChecks} checks it.
 * {@code DrawRules} has it as numbers for {@code play.lua}. {@code Seed.Numbers} expands the draw's seed, also to the moments of scheduled
 * prizes. {@code DrawModel} decides as the script does, for simulations and replays.
 *
 * <p>Public: {@code DrawDefinition} with {@code Prize}, {@code DrawRules} and {@code Seed} for {@code draw}; {@code DrawModel} and
 * {@code Chance} for {@code fairness} too; {@code Simulation} for the command {@code draw simulate} and the console. No store, no clock.
 * Definitions, rules and prizes are immutable; models, readers and chances are for one thread.
 *
 * <p>Invariants: {@code DrawModel} and {@code play.lua} decide alike, number by number; tests compare them. The lists of
 * {@code Seed.Numbers} are a format, and never change for an existing draw.
 *
 * <p>Begin with {@code DrawDefinition}, then {@code DrawModel}.
 */
@NullMarked
package dev.hongbao.draw.odds;

import org.jspecify.annotations.NullMarked;
