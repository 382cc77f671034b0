/**
 * The command line, one command per file. Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2
 * the flags, the environment or the file are at fault. A server that a signal stopped ends with 0, or with 1 when it did not stop in
 * time; other commands with 130 (Ctrl-C) or 143 (SIGTERM). Runs on the main thread.
 */
@NullMarked
package dev.hongbao.cli;

import org.jspecify.annotations.NullMarked;
