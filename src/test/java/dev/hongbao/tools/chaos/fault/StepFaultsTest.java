package dev.hongbao.tools.chaos.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StepFaultsTest {
    @ParameterizedTest(name = "{0}")
    @MethodSource
    @DisplayName("Given a step at which servers are halted, when the server's classes are looked at, then it has one")
    void everyStepIsThere(StepFaults.Step step) throws Exception {
        List<String> methods = Arrays.stream(Class.forName(step.type()).getDeclaredMethods())
                .map(Method::getName)
                .toList();

        assertThat(methods).contains(step.method());
    }

    static Stream<StepFaults.Step> everyStepIsThere() {
        return StepFaults.WORKS.stream().flatMap(work -> work.steps().stream());
    }
}
