/** The benchmarks: loads that are bounded in count and time, on servers of their own, each held against article 1's loop in the same run. Blocking, from the command's thread; the only package that talks to Redis through a blocking client. */
@NullMarked
package dev.hongbao.tools.bench;

import org.jspecify.annotations.NullMarked;
