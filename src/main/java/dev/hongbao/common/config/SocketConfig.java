package dev.hongbao.common.config;

import java.time.Duration;

/** The guards of the WebSocket. */
public record SocketConfig(
        @ConfigOption(
                path = "socket.messages-per-second",
                range = "1 … 100000 messages a second",
                unset = "20",
                fixed = true,
                doc = "Frames of one connection, twice as many at once: more than a person causes, and clients"
                        + " pace themselves to it.")
        int messagesPerSecond,

        @ConfigOption(
                path = "socket.max-groups",
                range = "1 … 1000 groups",
                unset = "50",
                fixed = true,
                doc = "Groups that one connection follows: more than a screen shows.")
        int maxGroups,

        Connections connections,
        Timeouts timeouts) {
    /** How many connections this server has at once. */
    public record Connections(
            @ConfigOption(
                    path = "socket.max-per-user",
                    range = "1 … 1000000 connections",
                    unset = "10",
                    doc = "Connections of one user on this server.")
            int maxPerUser,

            @ConfigOption(
                    path = "socket.max-per-address",
                    range = "1 … 1000000 connections",
                    unset = "1000",
                    doc = "Connections of one address on this server, as http.max-per-address counts them; behind a"
                            + " proxy, the client's address.")
            int maxPerAddress,

            @ConfigOption(
                    path = "socket.max-unauthenticated",
                    range = "1 … 1000000 connections",
                    unset = "4000",
                    fixed = true,
                    doc = "Connections on this server that have not sent a token yet; further ones get 503. More"
                            + " than one address may have.")
            int maxUnauthenticated) {}

    /** After which a connection is closed; a third of {@code idle} is between pings. */
    public record Timeouts(
            @ConfigOption(
                    path = "socket.auth-timeout",
                    range = "100ms … 1m",
                    unset = "5s",
                    fixed = true,
                    doc = "A connection that has not sent a token after so long is closed: a phone on a bad network"
                            + " takes less.")
            Duration auth,

            @ConfigOption(
                    path = "socket.idle-timeout",
                    range = "1s … 1h",
                    unset = "75s",
                    fixed = true,
                    doc = "A connection not heard of for so long is closed; pinged three times meanwhile, more"
                            + " often than the minute that proxies wait.")
            Duration idle,

            @ConfigOption(
                    path = "socket.slow-timeout",
                    range = "100ms … 5m",
                    unset = "10s",
                    fixed = true,
                    doc = "A reader that takes nothing for so long is closed, and goes on from its cursor; over"
                            + " HTTP, one that takes less than 64 KiB.")
            Duration slow) {}
}
