/**
 * WebSockets: the protocol of asyncapi.yaml over the same services as HTTP. Each connection stays on the event loop that accepted
 * it, with all classes here except {@link dev.hongbao.web.ws.SocketGuards}. Everything that a connection can make the server hold
 * is bounded. A connection that breaks a rule ends only itself.
 */
@NullMarked
package dev.hongbao.web.ws;

import org.jspecify.annotations.NullMarked;
