package dev.hongbao.ws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.ws.SocketFace.Handshake;
import org.junit.jupiter.api.Test;

class HandshakeRemainsTest {
    /** Fails when another Vert.x keeps them elsewhere: look at {@code bench sockets} then. */
    @Test
    void theVertxThatIsBuiltWithLetsThemGo() {
        assertThat(Handshake.canBeReleased()).isTrue();
    }
}
