/** Defects that are planted one at a time, to see which test finds each: a mutant that nothing catches is a missing test. */
package dev.hongbao.mutants;
