package dev.hongbao.fuzz;

import dev.hongbao.http.ProblemType;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Says what is wrong with an answer, whatever was asked. Pure. */
public final class Oracle {
    /** Names of classes, lines of stacks, words of the stores: nobody outside needs them. No input has such a word in it. */
    private static final Pattern INTERNALS =
            Pattern.compile("\\b(java|javax|jdk|sun|io|com|org|dev)\\.[a-z]\\w*\\.[\\w.]+"
                    + "|\\w(Exception|Error)\\b|\\n\\s+at \\S+\\(|\\bSQLSTATE\\b|violates|duplicate key|syntax error at"
                    + "|relation \"|NOSCRIPT|NO_JOURNAL|WRONGTYPE|user_script|@user_script");

    private static final Map<String, ProblemType> TYPES =
            Stream.of(ProblemType.values()).collect(Collectors.toMap(ProblemType::uri, Function.identity()));

    private Oracle() {}

    /** What is wrong with an HTTP answer; null for nothing. */
    static @Nullable String fault(Answer answer) {
        int status = answer.status();
        if (status == 500) {
            return "500: " + answer.body();
        }
        if (status < 100 || status > 599) {
            return "no status: " + status;
        }
        if (status < 400) {
            return null; // what users wrote is in it
        }
        if (!"application/problem+json".equals(answer.header("content-type"))) {
            return status + " is no problem document: " + answer.body();
        }
        if (status == 503 && answer.header("retry-after") == null) {
            return "503 without Retry-After: " + answer.body();
        }
        return problemFault(answer.body(), status);
    }

    /** The same of the management port: its pages, and what is no HTTP, are refused in plain words or in none. */
    static @Nullable String operatorFault(Answer answer) {
        boolean isPlain = answer.status() >= 400
                && answer.status() != 500
                && !"application/problem+json".equals(answer.header("content-type"));
        return isPlain ? internals(answer.body()) : fault(answer);
    }

    /** What is wrong with a problem document; null for nothing. @param status that it comes with; 0 for none */
    public static @Nullable String problemFault(String text, int status) {
        String internals = internals(text);
        if (internals != null) {
            return internals;
        }
        try {
            JsonObject problem = new JsonObject(text);
            ProblemType type = TYPES.get(problem.getString("type"));
            boolean fits = type != null
                    && type != ProblemType.INTERNAL_ERROR
                    && type.status() == problem.getInteger("status")
                    && (status == 0 || status == type.status());
            return fits ? null : "a problem that is none: " + text;
        } catch (DecodeException | ClassCastException none) {
            return "no JSON: " + text;
        }
    }

    /** Which part of a text is nobody's business; null for none. */
    public static @Nullable String internals(String text) {
        var found = INTERNALS.matcher(text);
        return found.find() ? "it tells " + found.group() + ": " + text : null;
    }
}
