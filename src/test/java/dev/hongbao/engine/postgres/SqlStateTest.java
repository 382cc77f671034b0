package dev.hongbao.engine.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.VertxException;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.ClosedConnectionException;
import java.io.IOException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SqlStateTest {
    static Stream<Throwable> lostConnections() {
        return Stream.of(
                ClosedConnectionException.INSTANCE,
                new IOException("reset"),
                new TimeoutException(),
                VertxException.noStackTrace("Timeout waiting for connection"),
                // Of a statement that meets a connection at the moment in which it ends; found by chaos, seed 1: a send
                // was answered 500.
                VertxException.noStackTrace("Connection is not active now, current status: CLOSED"),
                VertxException.noStackTrace("Connection is not active now, current status: CLOSING"),
                // Of who waits for a connection, or comes for one, as the server stops.
                VertxException.noStackTrace("Pool closed"),
                VertxException.noStackTrace("Pending requests failed to be sent due to connection has been closed."));
    }

    @ParameterizedTest
    @MethodSource("lostConnections")
    @DisplayName(
            "Given a connection that is lost, when its fault is judged, then it is an outage, not a fault of this server")
    void aLostConnectionIsAnOutage(Throwable fault) {
        assertThat(SqlState.isOutage(fault)).isTrue();
        assertThat(SqlState.isRefusal(fault)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"55000", "3D000", "28000", "28P01"})
    @DisplayName(
            "Given a Postgres that lets nobody in, as while a backup takes the database's place, when its fault is judged, then it is an outage, and nothing was done")
    void whoIsNotLetInMeetsAnOutage(String state) {
        PgException fault = new PgException("not now", "FATAL", state, null);

        assertThat(SqlState.isOutage(fault)).isTrue();
        assertThat(SqlState.isRefusal(fault)).isTrue();
    }

    @Test
    @DisplayName("Given a fault that nobody foresaw, when it is judged, then it is none")
    void anUnforeseenFaultIsNoOutage() {
        assertThat(SqlState.isOutage(VertxException.noStackTrace("no such thing")))
                .isFalse();
    }
}
