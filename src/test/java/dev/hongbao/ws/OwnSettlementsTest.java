package dev.hongbao.ws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.ws.Connection.OwnSettlements;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OwnSettlementsTest {
    private static final UUID PACKET = new UUID(7, 1);

    private final OwnSettlements settlements = new OwnSettlements();

    @Test
    void anAnswerWithoutTheOutcomeLeavesItToBeToldOnce() {
        settlements.asked(PACKET);
        assertThat(settlements.tells(PACKET)).isFalse();

        settlements.answered(PACKET, false);

        assertThat(settlements.isAwaited()).isFalse();
        assertThat(settlements.tells(PACKET)).isTrue();
        assertThat(settlements.tells(PACKET)).isFalse();
    }

    @Test
    void theRefusalOfOneRequestLeavesTheOutcomeToTheAnswerOfAnother() {
        settlements.asked(PACKET);
        settlements.asked(PACKET);

        settlements.answered(PACKET, false);

        assertThat(settlements.isAwaited()).isTrue();
        assertThat(settlements.tells(PACKET)).isFalse();
        settlements.answered(PACKET, true);
        assertThat(settlements.isAwaited()).isFalse();
        assertThat(settlements.tells(PACKET)).isFalse();
    }
}
