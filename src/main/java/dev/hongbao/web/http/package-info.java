/**
 * The HTTP face: the contract's calls, decoded to commands and answered as JSON or problem documents. One verticle instance per
 * event loop, with its own routes and connections; tokens, limits, documents and counters are shared. Every request gets exactly
 * one answer, and every wait has a limit. No decision about packets or money is made here.
 */
@NullMarked
package dev.hongbao.web.http;

import org.jspecify.annotations.NullMarked;
