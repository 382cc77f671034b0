package dev.hongbao.page;

import dev.hongbao.config.SecretUrl;
import dev.hongbao.values.JsonText;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Named checks of whether this server can serve, run concurrently. Keeps the time of each check's last change. Thread-safe. */
final class HealthChecks {
    private final Map<String, Supplier<Future<Boolean>>> checks;
    private final Duration timeout;
    private final Map<String, Standing> standings = new ConcurrentHashMap<>();

    /**
     * @param checks by name, of letters and dashes; true = well. A check that fails, throws or is late is not well
     * @param timeout of each
     */
    public HealthChecks(Map<String, Supplier<Future<Boolean>>> checks, Duration timeout) {
        this.checks = new LinkedHashMap<>(checks);
        this.timeout = timeout;
    }

    /**
     * The results of one round of checks.
     *
     * @param well by name
     * @param since by name, the first answer that was as this one
     * @param reasons by name, why a check failed; absent where it is well, answered no, or did not answer
     */
    public record Report(Map<String, Boolean> well, Map<String, Instant> since, Map<String, String> reasons) {
        public boolean isUp() {
            return !well.containsValue(false);
        }

        /** {@code {"status":"UP","checks":[{"name":…,"status":"DOWN","reason":…}],"since":{name:…}}} */
        public String toJson() {
            JsonText json = new JsonText(128)
                    .beginObject()
                    .plain("status", word(isUp()))
                    .name("checks")
                    .beginArray();
            well.forEach((name, up) -> {
                json.beginObject().field("name", name).plain("status", word(up));
                if (reasons.containsKey(name)) {
                    json.field("reason", reasons.get(name));
                }
                json.endObject();
            });
            json.endArray().name("since").beginObject();
            since.forEach((name, at) -> json.field(name, at.toString()));
            return json.endObject().endObject().toString();
        }

        private static String word(boolean up) {
            return up ? "UP" : "DOWN";
        }
    }

    /**
     * A check's latest result.
     *
     * @param since the first answer equal to the latest one
     */
    private record Standing(boolean isWell, Instant since) {}

    /** Registers {@code hongbao.readiness}: 1 for each check that was well at its last run. */
    public void watch(MeterRegistry registry) {
        checks.keySet()
                .forEach(name -> Gauge.builder("hongbao.readiness", standings, all -> isWell(all.get(name)) ? 1 : 0)
                        .description("1 while a check of /health/ready is well")
                        .tag("check", name)
                        .register(registry));
    }

    private static boolean isWell(@Nullable Standing standing) {
        return standing != null && standing.isWell;
    }

    /** Runs all checks; never fails. */
    public Future<Report> ask() {
        List<String> names = new ArrayList<>(checks.keySet());
        List<Future<Boolean>> answers = checks.values().stream().map(this::ask).toList();
        return Future.join(answers).transform(all -> {
            Map<String, Boolean> well = new LinkedHashMap<>();
            Map<String, Instant> since = new LinkedHashMap<>();
            Map<String, String> reasons = new LinkedHashMap<>();
            for (int i = 0; i < names.size(); i++) {
                Future<Boolean> answer = answers.get(i);
                boolean isWell = answer.succeeded() && Boolean.TRUE.equals(answer.result());
                well.put(names.get(i), isWell);
                String reason = answer.failed() ? answer.cause().getMessage() : null;
                if (reason != null && !(answer.cause() instanceof TimeoutException)) {
                    reasons.put(names.get(i), SecretUrl.redact(reason));
                }
                since.put(names.get(i), note(names.get(i), isWell).since());
            }
            return Future.succeededFuture(new Report(well, since, reasons));
        });
    }

    private Standing note(String name, boolean isWell) {
        Instant now = Instant.now();
        return standings.compute(
                name,
                (check, before) -> before != null && before.isWell == isWell ? before : new Standing(isWell, now));
    }

    private Future<Boolean> ask(Supplier<Future<Boolean>> check) {
        Future<Boolean> answer;
        try {
            answer = check.get();
        } catch (RuntimeException fault) {
            return Future.failedFuture(fault);
        }
        return answer.timeout(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }
}
