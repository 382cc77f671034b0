package dev.hongbao.ws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** The socket's contract with the JDK's client, which shares no code with the server's WebSocket. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class JdkSocketIT extends SocketContract {
    JdkSocketIT() {
        super(JdkFrameClient::open);
    }

    @Test
    void theSubprotocolIsAgreedOn() {
        try (JdkFrameClient client = JdkFrameClient.open(server().base())) {
            assertThat(client.subprotocol()).isEqualTo("hongbao.v1");
        }
    }
}
