/**
 * Inputs that are right, nearly right and wrong, by the hundred thousand, and what must be true after each of them. {@link dev.hongbao.fuzz.FuzzIT}
 * runs them all; an input is made of the seed and its number alone, so that it can be sent again.
 */
package dev.hongbao.fuzz;
