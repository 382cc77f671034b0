package dev.hongbao.common.config;

import java.time.Duration;
import java.util.List;

/**
 * The guards of the WebSocket.
 *
 * @param origins exact origins whose pages may connect, beside this server's own on a loopback address; may be empty
 * @param maxFrameBytes a larger frame or message closes its connection
 * @param messagesPerSecond of one connection; twice as many at once
 * @param maxGroups that one connection follows
 * @param maxPerUser connections of one user on this server
 * @param maxPerAddress connections of one address on this server
 * @param maxUnauthenticated connections on this server that have not sent a token yet
 * @param authTimeout in which the first frame must bring a token
 * @param idleTimeout a connection not heard of for so long is closed; a third of it is between pings
 * @param slowTimeout a reader who takes nothing for so long is closed
 */
public record SocketConfig(
        List<String> origins,
        int maxFrameBytes,
        int messagesPerSecond,
        int maxGroups,
        int maxPerUser,
        int maxPerAddress,
        int maxUnauthenticated,
        Duration authTimeout,
        Duration idleTimeout,
        Duration slowTimeout) {
    public SocketConfig {
        origins = List.copyOf(Options.SOCKET_ORIGINS.require(origins));
        Options.SOCKET_MAX_FRAME.require(maxFrameBytes);
        Options.SOCKET_MESSAGES_PER_SECOND.require(messagesPerSecond);
        Options.SOCKET_MAX_GROUPS.require(maxGroups);
        Options.SOCKET_MAX_PER_USER.require(maxPerUser);
        Options.SOCKET_MAX_PER_ADDRESS.require(maxPerAddress);
        Options.SOCKET_MAX_UNAUTHENTICATED.require(maxUnauthenticated);
        Options.SOCKET_AUTH_TIMEOUT.require(authTimeout);
        Options.SOCKET_IDLE_TIMEOUT.require(idleTimeout);
        Options.SOCKET_SLOW_TIMEOUT.require(slowTimeout);
    }

    static SocketConfig from(OptionValues values) {
        return new SocketConfig(
                values.get(Options.SOCKET_ORIGINS),
                values.get(Options.SOCKET_MAX_FRAME),
                values.get(Options.SOCKET_MESSAGES_PER_SECOND),
                values.get(Options.SOCKET_MAX_GROUPS),
                values.get(Options.SOCKET_MAX_PER_USER),
                values.get(Options.SOCKET_MAX_PER_ADDRESS),
                values.get(Options.SOCKET_MAX_UNAUTHENTICATED),
                values.get(Options.SOCKET_AUTH_TIMEOUT),
                values.get(Options.SOCKET_IDLE_TIMEOUT),
                values.get(Options.SOCKET_SLOW_TIMEOUT));
    }
}
