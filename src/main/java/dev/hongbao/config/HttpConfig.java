package dev.hongbao.config;

import java.time.Duration;

/**
 * The API's listener.
 *
 * @param port 0 takes a free one
 * @param eventLoops as configured; 0 is one per core, see {@link #effectiveEventLoops}
 * @param maxBodyBytes a larger request body is refused
 * @param idleTimeout a connection silent for so long is closed; never 0
 * @param answerTimeout after which a call's answer is unknown, over the socket too
 * @param maxConnections open at once
 */
public record HttpConfig(
        String host,
        int port,
        int eventLoops,
        int maxBodyBytes,
        Duration idleTimeout,
        Duration answerTimeout,
        int maxConnections) {
    public HttpConfig {
        Options.HTTP_HOST.require(host);
        Options.HTTP_PORT.require(port);
        Options.HTTP_EVENT_LOOPS.require(eventLoops);
        Options.HTTP_MAX_BODY.require(maxBodyBytes);
        Options.HTTP_IDLE_TIMEOUT.require(idleTimeout);
        Options.HTTP_ANSWER_TIMEOUT.require(answerTimeout);
        Options.HTTP_MAX_CONNECTIONS.require(maxConnections);
    }

    static HttpConfig from(OptionValues values) {
        return new HttpConfig(
                values.get(Options.HTTP_HOST),
                values.get(Options.HTTP_PORT),
                values.get(Options.HTTP_EVENT_LOOPS),
                values.get(Options.HTTP_MAX_BODY),
                values.get(Options.HTTP_IDLE_TIMEOUT),
                values.get(Options.HTTP_ANSWER_TIMEOUT),
                values.get(Options.HTTP_MAX_CONNECTIONS));
    }

    /** Event loops to start; at least 1. */
    public int effectiveEventLoops() {
        return eventLoops > 0 ? eventLoops : Runtime.getRuntime().availableProcessors();
    }
}
