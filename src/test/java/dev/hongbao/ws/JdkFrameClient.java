package dev.hongbao.ws;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** The JDK's WebSocket: a second implementation that shares no code with the server's. */
final class JdkFrameClient extends FrameClient implements WebSocket.Listener {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final StringBuilder text = new StringBuilder();
    private WebSocket socket;

    static JdkFrameClient open(URI base) {
        JdkFrameClient client = new JdkFrameClient();
        client.socket = HTTP.newWebSocketBuilder()
                .subprotocols("hongbao.v1")
                .buildAsync(URI.create("ws://" + base.getAuthority() + "/v1/socket"), client)
                .orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS)
                .join();
        return client;
    }

    String subprotocol() {
        return socket.getSubprotocol();
    }

    @Override
    void sendText(String message) {
        socket.sendText(message, true).join();
    }

    @Override
    void drop() {
        socket.abort();
    }

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
        text.append(data);
        if (last) {
            arrived(text.toString());
            text.setLength(0);
        }
        from.request(1);
        return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket from, int code, String reason) {
        closedWith(code);
        return null;
    }

    @Override
    public void onError(WebSocket from, Throwable fault) {
        closedWith(1006);
    }
}
