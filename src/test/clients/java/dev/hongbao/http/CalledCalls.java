package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract.Operation;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;

/** Whether a client has called everything that the contract has. */
final class CalledCalls {
    private CalledCalls() {}

    /** @param called like {@code GET /v1/packets/01939d1e-8c00-7000-8000-000000000001} */
    static void assertEvery(Collection<String> called) {
        Set<String> missing = new TreeSet<>();
        for (Contract.Path path : Contract.load().paths()) {
            for (Operation call : path.operations()) {
                if (called.stream().noneMatch(made -> made.matches(call.method() + " " + path.regex()))) {
                    missing.add(call.id());
                }
            }
        }
        assertThat(missing).as("calls without a scenario").isEmpty();
    }
}
