/** Stores and servers as processes, with proxies between them, and the means to hurt and to mend each. Blocking. */
@NullMarked
package dev.hongbao.tools.chaos.bed;

import org.jspecify.annotations.NullMarked;
