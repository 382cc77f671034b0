package dev.hongbao.config;

import java.time.Duration;

/** Limits of the WebSocket. */
public record SocketConfig(
        @ConfigOption(
                path = "socket.messages-per-second",
                range = "1 … 100000 messages a second",
                unset = "20",
                fixed = true,
                doc = "Frames of one connection, with bursts of twice as many. More than a person causes, and"
                        + " clients pace themselves to it.")
        int messagesPerSecond,

        @ConfigOption(
                path = "socket.max-groups",
                range = "1 … 1000 groups",
                unset = "50",
                fixed = true,
                doc = "The most groups that one connection follows: more than a screen shows.")
        int maxGroups,

        Connections connections,
        Timeouts timeouts) {
    /** Limits on this server's connections. */
    public record Connections(
            @ConfigOption(
                    path = "socket.max-per-user",
                    range = "1 … 1000000 connections",
                    unset = "10",
                    doc = "The most connections of one user on this server.")
            int maxPerUser,

            @ConfigOption(
                    path = "socket.max-per-address",
                    range = "1 … 1000000 connections",
                    unset = "1000",
                    doc = "The most connections of one address on this server, counted like http.max-per-address."
                            + " Behind a proxy, the client's address counts.")
            int maxPerAddress,

            @ConfigOption(
                    path = "socket.max-unauthenticated",
                    range = "1 … 1000000 connections",
                    unset = "4000",
                    fixed = true,
                    doc = "The most connections on this server that have not sent a token yet; further ones get 503."
                            + " More than one address may have.")
            int maxUnauthenticated) {}

    /** Times after which a connection is closed. The server pings every third of {@code idle}. */
    public record Timeouts(
            @ConfigOption(
                    path = "socket.auth-timeout",
                    range = "100ms … 1m",
                    unset = "5s",
                    fixed = true,
                    doc =
                            "A connection without a token after this time is closed. A phone on a bad network takes less.")
            Duration auth,

            @ConfigOption(
                    path = "socket.idle-timeout",
                    range = "1s … 1h",
                    unset = "75s",
                    fixed = true,
                    doc = "A connection without any frame for this time is closed. Three pings fall into it, more often"
                            + " than the minute that proxies wait.")
            Duration idle,

            @ConfigOption(
                    path = "socket.slow-timeout",
                    range = "100ms … 5m",
                    unset = "10s",
                    fixed = true,
                    doc = "A reader that takes nothing for this time is closed, and can go on from its cursor. Over"
                            + " HTTP, it must take at least 64 KiB.")
            Duration slow) {}
}
