package dev.hongbao.web.management;

import dev.hongbao.common.json.JsonText;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Named questions whose answers say whether this server can serve. Each is asked anew, and all at once. */
public final class HealthChecks {
    private final Map<String, Supplier<Future<Boolean>>> checks;
    private final Duration timeout;

    /**
     * @param checks by name, of letters and dashes; true = well. A check that fails, throws or is late counts as not well
     * @param timeout for each
     */
    public HealthChecks(Map<String, Supplier<Future<Boolean>>> checks, Duration timeout) {
        this.checks = new LinkedHashMap<>(checks);
        this.timeout = timeout;
    }

    /**
     * What a round of checks found.
     *
     * @param well by name
     */
    public record Report(Map<String, Boolean> well) {
        /** Whether every check is well. */
        public boolean isUp() {
            return !well.containsValue(false);
        }

        /** {@code {"status":"UP","checks":[{"name":…,"status":"UP"}]}} */
        public String toJson() {
            JsonText json = new JsonText(128)
                    .beginObject()
                    .plain("status", word(isUp()))
                    .name("checks")
                    .beginArray();
            well.forEach((name, up) -> json.beginObject()
                    .field("name", name)
                    .plain("status", word(up))
                    .endObject());
            return json.endArray().endObject().toString();
        }

        private static String word(boolean up) {
            return up ? "UP" : "DOWN";
        }
    }

    /** Asks all; never fails. */
    public Future<Report> ask() {
        List<String> names = new ArrayList<>(checks.keySet());
        List<Future<Boolean>> answers = checks.values().stream().map(this::ask).toList();
        return Future.join(answers).map(all -> {
            Map<String, Boolean> well = new LinkedHashMap<>();
            for (int i = 0; i < names.size(); i++) {
                well.put(names.get(i), answers.get(i).result());
            }
            return new Report(well);
        });
    }

    private Future<Boolean> ask(Supplier<Future<Boolean>> check) {
        Future<Boolean> answer;
        try {
            answer = check.get();
        } catch (RuntimeException fault) {
            return Future.succeededFuture(false);
        }
        return answer.timeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
                .map(Boolean.TRUE::equals)
                .otherwise(false);
    }
}
