package dev.hongbao.common.config;

import java.time.Duration;

/**
 * The guards of the WebSocket.
 *
 * @param maxFrameBytes a larger frame or message closes its connection
 * @param messagesPerSecond of one connection; twice as many at once
 * @param maxGroups that one connection follows
 * @param connections how many may be open
 * @param timeouts how long a connection may keep still
 */
public record SocketConfig(
        int maxFrameBytes, int messagesPerSecond, int maxGroups, Connections connections, Timeouts timeouts) {
    /**
     * How many connections this server has at once.
     *
     * @param maxPerUser of one user
     * @param maxPerAddress of one address
     * @param maxUnauthenticated that have not sent a token yet
     */
    public record Connections(int maxPerUser, int maxPerAddress, int maxUnauthenticated) {
        public Connections {
            Options.SOCKET_MAX_PER_USER.require(maxPerUser);
            Options.SOCKET_MAX_PER_ADDRESS.require(maxPerAddress);
            Options.SOCKET_MAX_UNAUTHENTICATED.require(maxUnauthenticated);
        }
    }

    /**
     * After which a connection is closed.
     *
     * @param auth in which the first frame must bring a token
     * @param idle not heard of for so long; a third of it is between pings
     * @param slow a reader who takes nothing for so long; over HTTP, one who takes less than 64 KiB of an answer
     */
    public record Timeouts(Duration auth, Duration idle, Duration slow) {
        public Timeouts {
            Options.SOCKET_AUTH_TIMEOUT.require(auth);
            Options.SOCKET_IDLE_TIMEOUT.require(idle);
            Options.SOCKET_SLOW_TIMEOUT.require(slow);
        }
    }

    public SocketConfig {
        Options.SOCKET_MAX_FRAME.require(maxFrameBytes);
        Options.SOCKET_MESSAGES_PER_SECOND.require(messagesPerSecond);
        Options.SOCKET_MAX_GROUPS.require(maxGroups);
    }

    static SocketConfig from(OptionValues values) {
        return new SocketConfig(
                values.get(Options.SOCKET_MAX_FRAME),
                values.get(Options.SOCKET_MESSAGES_PER_SECOND),
                values.get(Options.SOCKET_MAX_GROUPS),
                new Connections(
                        values.get(Options.SOCKET_MAX_PER_USER),
                        values.get(Options.SOCKET_MAX_PER_ADDRESS),
                        values.get(Options.SOCKET_MAX_UNAUTHENTICATED)),
                new Timeouts(
                        values.get(Options.SOCKET_AUTH_TIMEOUT),
                        values.get(Options.SOCKET_IDLE_TIMEOUT),
                        values.get(Options.SOCKET_SLOW_TIMEOUT)));
    }
}
