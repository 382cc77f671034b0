package dev.hongbao.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.AuditLog.AuditRow;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rows that cannot be written are counted, and the next written row tells their number. */
class AuditLogTest {
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();

    private static AuditRow row(int i) {
        return new AuditRow.Kind(
                        AuditRow.Who.at("address-" + i), "GET", "/v1/me/balances", null, 401, "unauthenticated")
                .row();
    }

    private static void refused(AuditLog log, AuditRow row) {
        log.noteRefused(row.kind(), () -> row);
    }

    private double rows(String as) {
        return metrics.get("hongbao_audit_rows").tag("as", as).counter().count();
    }

    private static long missed(Tuple columns) {
        return columns.getArrayOfLongs(11)[0];
    }

    @Test
    void whatIsLostIsTold() {
        // Given a Postgres that is away
        List<Tuple> written = new ArrayList<>();
        boolean[] away = {true};
        AuditLog log = new AuditLog(
                columns -> {
                    written.add(columns);
                    return away[0] ? Future.failedFuture("away") : Future.succeededFuture();
                },
                metrics);
        refused(log, row(1));
        refused(log, row(2));
        assertThat(log.write(row(3)).failed()).isTrue();

        // When it is back
        away[0] = false;
        refused(log, row(4));
        refused(log, row(5));

        // Then what was only noted is missing; who waited for a row was told, and is to try again
        assertThat(missed(written.get(3))).isEqualTo(2);
        assertThat(missed(written.get(4))).isZero();
        assertThat(rows("missed")).isEqualTo(2);
        assertThat(rows("written")).isEqualTo(2);
    }

    @Test
    void whatIsNotedLeavesRoomForWhatIsWaitedFor() {
        // Given a Postgres that does not answer
        List<Promise<Object>> answers = new ArrayList<>();
        AuditLog log = new AuditLog(
                columns -> {
                    Promise<Object> answer = Promise.promise();
                    answers.add(answer);
                    return answer.future();
                },
                metrics);

        // When more is noted than may wait: as the host's, since of others so much is counted together
        for (int i = 0; i < 4_999; i++) {
            log.note(row(i));
        }
        for (int i = 0; i < 10_000; i++) {
            refused(log, row(100_000 + i));
        }
        Future<Void> waited = log.write(row(0));

        // Then
        assertThat(rows("missed")).isPositive();
        for (int i = 0; i < answers.size(); i++) {
            answers.get(i).complete();
        }
        assertThat(waited.succeeded()).isTrue();
    }

    @Test
    void textsOfCallersAreCutAndCleaned() {
        assertThat(AuditRow.text(null)).isNull();
        assertThat(AuditRow.text("")).isNull();
        assertThat(AuditRow.text("a\u0000b\n支")).isEqualTo("a?b??");
        assertThat(AuditRow.text("x".repeat(1_000))).hasSize(256);
    }
}
