package dev.hongbao.http;

import dev.hongbao.http.Contract.Operation;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Metrics of HTTP: answers and their durations, by call and status class. Counters are created in advance. One instance for all
 * verticles, thread-safe.
 */
public final class HttpMetrics {
    /** Status classes 1xx to 5xx. */
    private static final int CLASSES = 5;

    private static final int SERVER_ERROR = 500;

    private final MeterRegistry registry;
    private final List<String> routes;
    private final Counter[][] answers;
    private final AtomicReferenceArray<Timer> times;
    private final Map<ProblemType, Counter> faults = new EnumMap<>(ProblemType.class);
    private final AtomicInteger polls = new AtomicInteger();

    /** Counters for every call of the contract; documents and unknown paths count as {@code other}. */
    public static HttpMetrics of(MeterRegistry registry, Contract contract) {
        return new HttpMetrics(
                registry, contract.operations().stream().map(Operation::id).toList());
    }

    private HttpMetrics(MeterRegistry registry, List<String> routes) {
        this.registry = registry;
        this.routes = routes;
        this.answers = new Counter[routes.size() + 1][CLASSES];
        this.times = new AtomicReferenceArray<>(answers.length);
        for (int route = 0; route <= routes.size(); route++) {
            String name = name(route);
            for (int i = 0; i < CLASSES; i++) {
                answers[route][i] = Counter.builder("hongbao_http_requests")
                        .description("Answers by call and class of status")
                        .tag("route", name)
                        .tag("status", (i + 1) + "xx")
                        .register(registry);
            }
        }
        for (ProblemType type : ProblemType.values()) {
            if (type.status() >= SERVER_ERROR) {
                faults.put(
                        type,
                        Counter.builder("hongbao.http.server.errors")
                                .description("Answers with a status of 500 or more, by the type of the problem")
                                .tag("type", type.wireName())
                                .register(registry));
            }
        }
        Gauge.builder("hongbao_http_polls", polls, AtomicInteger::get)
                .description("Polls of group feeds that wait for events")
                .register(registry);
    }

    /** The index of {@code other}. */
    int other() {
        return answers.length - 1;
    }

    /** @param problem null if not refused @param nanos since the request was read */
    void answered(int route, int status, @Nullable ProblemType problem, long nanos) {
        answers[route][status / 100 - 1].increment();
        time(route).record(nanos, TimeUnit.NANOSECONDS);
        Counter fault = problem == null ? null : faults.get(problem);
        if (fault != null) {
            fault.increment();
        }
    }

    /** The call's histogram, created at its first use because there are many calls. Concurrent creation gives the same one. */
    private Timer time(int route) {
        Timer known = times.get(route);
        if (known != null) {
            return known;
        }
        Timer made = Timer.builder("hongbao.http.request")
                .description(
                        "From the request's head to the answer, by call; a poll waits for events as long as it asked to")
                .tag("route", name(route))
                .register(registry);
        times.set(route, made);
        return made;
    }

    private String name(int route) {
        return route < routes.size() ? routes.get(route) : "other";
    }

    /** All instances' waiting polls. */
    AtomicInteger polls() {
        return polls;
    }
}
