/**
 * The checks of this machine, the stores and a server at work: one list, {@code Check}.
 *
 * <p>A start asks those that can refuse it or warn; {@code /health/ready} those whose failure makes every answer impossible; the command
 * {@code doctor} all, through the management port and the stores. A {@code Diagnosis} names the option or the section of the runbook with
 * the remedy.
 *
 * <p>Public: {@code Checks}, which the server and the command line call, and {@code Check}. It changes and starts nothing. Blocking, except for the
 * questions to the stores at a start.
 *
 * <p>Begin with {@code Check}, then {@code Checks} and {@code Doctor}.
 */
@NullMarked
package dev.hongbao.doctor;

import org.jspecify.annotations.NullMarked;
