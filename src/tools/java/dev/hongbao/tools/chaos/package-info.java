/**
 * The command {@code chaos}: real stores and servers, simulated clients, faults by a seeded schedule, and a checker that decides from what
 * clients saw and from the database alone whether every promise was kept. Blocking.
 */
@NullMarked
package dev.hongbao.tools.chaos;

import org.jspecify.annotations.NullMarked;
