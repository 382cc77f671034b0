/**
 * The WebSocket: the protocol of asyncapi.yaml over the services that HTTP calls. Each connection lives on the event loop
 * that accepted it, and so does everything here but {@link dev.hongbao.web.ws.SocketGuards}. A connection is bounded in everything it can make
 * the server hold; what breaks a rule ends only itself.
 */
@NullMarked
package dev.hongbao.web.ws;

import org.jspecify.annotations.NullMarked;
