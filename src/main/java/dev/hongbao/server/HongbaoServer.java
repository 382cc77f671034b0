package dev.hongbao.server;

import dev.hongbao.config.HongbaoConfig;

/** PLACEHOLDER of the command line's branch: the server package's own class replaces this file on merge. */
public final class HongbaoServer {
    private HongbaoServer() {}

    /** Starts everything and returns once requests are served. */
    public static HongbaoServer start(HongbaoConfig config) {
        throw new UnsupportedOperationException("the server is not part of this branch");
    }

    /** The API's port in use. */
    public int port() {
        throw new UnsupportedOperationException();
    }

    /** The management port in use. */
    public int managementPort() {
        throw new UnsupportedOperationException();
    }

    /** Stops in order; returns when everything has stopped. */
    public void close() {
        throw new UnsupportedOperationException();
    }
}
