/**
 * WebSockets: the protocol of {@code asyncapi.yaml}, over the same services as HTTP.
 *
 * <p>{@code Sockets} holds the limits of the server, and opens a {@code SocketFace} for each event loop, which upgrades a request. A
 * connection waits for the frame {@code auth}. {@code Requests} answers the frames of a caller; {@code Membership} follows the feed of
 * each group that the caller entered. {@code Connection} sends, and ends with a {@code CloseReason}.
 *
 * <p>Public is {@code Sockets} alone; only the server calls it. The room stands above the subjects, since a frame is a claim, a play, a
 * send or a feed's event; no subject knows it. Each connection stays on the event loop that accepted it, with all classes here except
 * {@code Sockets}.
 *
 * <p>Everything that a connection can make the server hold is bounded. A connection that breaks a rule ends only itself.
 *
 * <p>Begin with {@code Sockets}, then {@code SocketFace}, {@code Requests} and {@code Connection}.
 */
@NullMarked
package dev.hongbao.ws;

import org.jspecify.annotations.NullMarked;
