/**
 * The checks of this machine, the stores and a server at work: one list, {@code Check}.
 *
 * <p>A start asks those that can refuse it or warn; {@code /health/ready} those whose failure makes every answer impossible; the command
 * {@code doctor} all, through the management port and the stores. A {@code Diagnosis} names the option or the section of the runbook with
 * the remedy.
 *
 * <p>The server calls {@code StartChecks}, the command line {@code Doctor}; both hide what they read. It changes and starts nothing.
 * Blocking, except for the questions to the stores.
 *
 * <p>Begin with {@code Check}, then {@code StartChecks} and {@code Doctor}.
 */
@NullMarked
package dev.hongbao.doctor;

import org.jspecify.annotations.NullMarked;
