package dev.hongbao.ws;

import dev.hongbao.testing.Servers;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** The socket's contract with Vert.x' client. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class VertxSocketIT extends SocketContract {
    VertxSocketIT() {
        super(VertxFrameClient::open);
    }
}
