package dev.hongbao.tools.bench;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.http.WebSocket;
import org.jspecify.annotations.Nullable;

/** One connection of a crowd. It reads no JSON: a client that does takes more of the machine than the server. Confined to its event loop. */
final class SocketMember {
    private final WebSocket socket;
    private final Runnable event;
    private @Nullable Promise<Void> answer;

    /** @param event called for each event of the feed */
    SocketMember(WebSocket socket, Runnable event) {
        this.socket = socket;
        this.event = event;
        socket.textMessageHandler(this::arrived);
    }

    /** Sends a request; fails when it is refused. One at a time. */
    Future<Void> ask(String frame) {
        Promise<Void> mine = Promise.promise();
        answer = mine;
        return socket.writeTextMessage(frame).compose(written -> mine.future());
    }

    Future<Void> close() {
        return socket.close();
    }

    private void arrived(String text) {
        if (text.startsWith("{\"type\":\"event\"")) {
            event.run();
            return;
        }
        Promise<Void> asked = answer;
        answer = null;
        if (asked == null) {
            return;
        }
        if (text.startsWith("{\"type\":\"error\"")) {
            asked.fail(text);
        } else {
            asked.complete();
        }
    }
}
