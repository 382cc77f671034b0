package dev.hongbao.web.http;

import dev.hongbao.web.api.Contract;
import dev.hongbao.web.api.Operation;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What the operator sees of the face: answers by call and class of status. All counters are made
 * beforehand; counting costs one addition. One instance for all verticles, safe on any thread.
 */
public final class HttpMetrics {
    /** Status classes 1xx to 5xx. */
    private static final int CLASSES = 5;

    private final Counter[][] answers;
    private final AtomicInteger polls = new AtomicInteger();

    /** Counters for every call of the contract; documents and what fits no call are counted as {@code other}. */
    public static HttpMetrics of(MeterRegistry registry, Contract contract) {
        return new HttpMetrics(
                registry, contract.operations().stream().map(Operation::id).toList());
    }

    private HttpMetrics(MeterRegistry registry, List<String> routes) {
        this.answers = new Counter[routes.size() + 1][CLASSES];
        for (int route = 0; route <= routes.size(); route++) {
            String name = route < routes.size() ? routes.get(route) : "other";
            for (int i = 0; i < CLASSES; i++) {
                answers[route][i] = Counter.builder("hongbao_http_requests")
                        .description("Answers by call and class of status")
                        .tag("route", name)
                        .tag("status", (i + 1) + "xx")
                        .register(registry);
            }
        }
        Gauge.builder("hongbao_http_polls", polls, AtomicInteger::get)
                .description("Polls of group feeds that wait for news")
                .register(registry);
    }

    /** The index of what fits no call. */
    int other() {
        return answers.length - 1;
    }

    void answered(int route, int status) {
        answers[route][status / 100 - 1].increment();
    }

    /** All instances' waiting polls. */
    AtomicInteger polls() {
        return polls;
    }
}
