/** What simulated clients asked and were told. Values are immutable; {@link dev.hongbao.tools.chaos.history.History} is thread-safe. */
@NullMarked
package dev.hongbao.tools.chaos.history;

import org.jspecify.annotations.NullMarked;
