package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.Settlements.Audience;
import org.junit.jupiter.api.Test;

class AudienceTest {
    private final Audience audience = new Audience();

    @Test
    void whoListensElsewhereIsAnAudienceButNotThisServers() {
        // Given
        assertThat(audience.isAnywhere()).isFalse();

        // When
        audience.setElsewhere(true);

        // Then
        assertThat(audience.isAnywhere()).isTrue();
        assertThat(audience.isEmpty()).isTrue();

        // When they leave, and somebody comes here
        audience.setElsewhere(false);
        audience.joined();

        // Then
        assertThat(audience.isAnywhere()).isTrue();
        assertThat(audience.isEmpty()).isFalse();

        // And he leaves
        audience.left();
        assertThat(audience.isAnywhere()).isFalse();
    }
}
