package dev.hongbao.ws;

import dev.hongbao.values.Named;

/** Reasons of the server to close a connection; asyncapi.yaml says what clients do about each. */
enum CloseReason implements Named {
    GOING_AWAY(1001),
    PROTOCOL_ERROR(1002),
    BINARY_REFUSED(1003),
    TOO_LARGE(1009),
    TOO_MANY_ERRORS(4000),
    AUTH_TIMEOUT(4001),
    TOKEN_REFUSED(4002),
    TOKEN_EXPIRED(4003),
    IDLE(4004),
    TOO_MANY_CONNECTIONS(4005),
    TOO_MANY_MESSAGES(4006),
    SLOW_READER(4007),
    INTERNAL_ERROR(4008),
    BLOCKED(4009);

    private final short code;

    CloseReason(int code) {
        this.code = (short) code;
    }

    short code() {
        return code;
    }
}
