/** The command line, one command per file. */
@NullMarked
package dev.hongbao.cli;

import org.jspecify.annotations.NullMarked;
