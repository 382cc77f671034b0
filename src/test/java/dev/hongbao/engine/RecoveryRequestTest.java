package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.Shards.Symptom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RecoveryRequestTest {
    private static final String STAMP = "{5f3a90c1:3}:7-ab12cd34ef56";

    static Stream<Symptom> symptoms() {
        return Stream.of(Symptom.FENCED, Symptom.FAILED, Symptom.missing(STAMP + ":p:0190"));
    }

    @ParameterizedTest
    @MethodSource("symptoms")
    void theOwnerHearsWhatAServerSaw(Symptom symptom) {
        RecoveryRequest request = new RecoveryRequest(3, STAMP, symptom);

        assertThat(RecoveryRequest.decode(request.encode())).isEqualTo(request);
        assertThat(request.epoch()).isEqualTo(7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "3", "three " + STAMP, "3 " + STAMP + " one two"})
    void anotherTextIsNoRequest(String text) {
        assertThat(RecoveryRequest.decode(text)).isNull();
    }
}
