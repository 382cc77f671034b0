package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.admission.Flow;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AdmissionExchangeTest {
    @Test
    void aLineIsReadAsItWasWritten() {
        Map<Integer, Flow> flows =
                Map.of(3, new Flow(50_000, 1_001, 1_000, 999, 250, 7), 15, new Flow(1, 1, 1, 0, 1, 0));

        assertThat(AdmissionExchange.flows(AdmissionExchange.line(flows))).isEqualTo(flows);
        assertThat(AdmissionExchange.line(Map.of())).isEmpty();
        assertThat(AdmissionExchange.flows("")).isEmpty();
    }

    @Test
    void whatAnotherVersionWritesIsPassedOver() {
        assertThat(AdmissionExchange.flows(
                        "3:1:2:3:4:5:6:7,4:5:6:7:8:9:0,x:1:2:3:4:5:6,7:-1:2:3:4:5:6,9:1e9:2:3:4:5:6,v2"))
                .isEqualTo(Map.of(4, new Flow(5, 6, 7, 8, 9, 0)));
    }
}
