package dev.hongbao.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Language;
import dev.hongbao.http.Problem;
import dev.hongbao.http.ProblemType;
import dev.hongbao.values.Text;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What judges the answers finds what it is there to find. */
class OracleTest {
    private static Answer problem(int status, String body) {
        return new Answer(status, Map.of("content-type", "application/problem+json", "retry-after", "1"), body);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "java.lang.IllegalStateException: no",
                "io.vertx.core.VertxException",
                "a NullPointerException",
                "ERROR: duplicate key value violates unique constraint (SQLSTATE 23505)",
                "first\n\tat dev.hongbao.Main(Main.java:7)",
                "NOSCRIPT No matching script"
            })
    void whatNobodyOutsideNeedsIsFound(String words) {
        String body = Problem.of(ProblemType.INVALID_REQUEST, Text.plain(words)).toJson(Language.ENGLISH);

        assertThat(Oracle.internals(words)).isNotNull();
        assertThat(Oracle.internals(body.replace("\\n", "\n").replace("\\t", "\t")))
                .isNotNull();
    }

    @Test
    void anAnswerThatIsNoneIsFound() {
        String body = Problem.of(ProblemType.DRAINED).toJson(Language.ENGLISH);

        assertThat(Oracle.fault(problem(500, body))).isNotNull();
        assertThat(Oracle.fault(problem(409, body))).isNotNull();
        assertThat(Oracle.fault(problem(410, "{}"))).isNotNull();
        assertThat(Oracle.fault(problem(410, "<html>"))).isNotNull();
        assertThat(Oracle.fault(new Answer(501, Map.of(), ""))).isNotNull();
        assertThat(Oracle.fault(new Answer(
                        503,
                        Map.of("content-type", "application/problem+json"),
                        Problem.of(ProblemType.UNKNOWN).toJson(Language.ENGLISH))))
                .isNotNull();
    }

    @Test
    void onTheManagementPortARefusalMayBePlainAndTellsNothingEither() {
        Map<String, String> plain = Map.of("content-type", "text/plain; charset=utf-8");
        String body = Problem.of(ProblemType.DRAINED).toJson(Language.ENGLISH);

        assertThat(Oracle.operatorFault(new Answer(404, plain, "/, /metrics\n")))
                .isNull();
        assertThat(Oracle.operatorFault(new Answer(400, Map.of(), ""))).isNull();
        assertThat(Oracle.operatorFault(problem(410, body))).isNull();
        assertThat(Oracle.operatorFault(problem(409, body))).isNotNull();
        assertThat(Oracle.operatorFault(new Answer(500, plain, "no metrics\n"))).isNotNull();
        assertThat(Oracle.operatorFault(new Answer(503, plain, "io.vertx.core.VertxException")))
                .isNotNull();
    }
}
