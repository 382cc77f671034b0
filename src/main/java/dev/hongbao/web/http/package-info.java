/**
 * The HTTP face: the contract's calls, decoded to commands and answered as JSON or problem documents. One verticle instance
 * for each event loop, each with its own routes and connections; tokens, limits, documents and counters are shared. Every
 * request gets exactly one answer, and waits for nothing without a limit. It decides nothing about packets or money.
 */
@NullMarked
package dev.hongbao.web.http;

import org.jspecify.annotations.NullMarked;
