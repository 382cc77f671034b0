/** Hongbao, a server for red packets and prize draws: the entry point. */
@NullMarked
package dev.hongbao;

import org.jspecify.annotations.NullMarked;
