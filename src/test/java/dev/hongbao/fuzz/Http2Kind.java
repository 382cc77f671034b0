package dev.hongbao.fuzz;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A connection of HTTP/2, over TLS as the server offers it: right requests, and between them whatever frames can be. The last ones are a ping
 * and a request, so that it is seen whether the connection still serves.
 */
final class Http2Kind implements Kind {
    /** After which silence the client says that nothing more comes. */
    private static final int SILENCE_MILLIS = 300;

    private static final int MOST_FRAMES = 12;

    /** Above all that is asked before, and still odd. */
    private static final int FENCE = 4_001;

    private final SecuredServer server;
    private final Http2Frames frames;

    Http2Kind(SecuredServer server, Hostile hostile) {
        this.server = server;
        this.frames = new Http2Frames(server.world(), hostile);
    }

    @Override
    public String name() {
        return "http2";
    }

    @Override
    public int share() {
        return 2;
    }

    @Override
    public void send(List<Input> inputs, Findings findings) throws IOException {
        for (Input input : inputs) {
            byte[] said = said(input);
            String fault = talk(input, said, findings);
            if (fault != null) {
                findings.found(input, fault, new String(said, StandardCharsets.ISO_8859_1));
            }
        }
    }

    private byte[] said(Input input) {
        Http2Bytes all = new Http2Bytes().raw(frames.preface(input));
        int stream = 1;
        for (int i = 0; i < MOST_FRAMES && !input.oneIn(MOST_FRAMES / 2); i++) {
            stream += frames.next(input, all, stream);
        }
        byte[] before = input.oneIn(5) ? Http2Frames.mutated(input, all.bytes()) : all.bytes();
        Http2Bytes whole = new Http2Bytes().raw(before);
        whole.frame(Http2Bytes.PING, 0, 0, "hb-fence".getBytes(StandardCharsets.US_ASCII));
        frames.balances(whole, FENCE);
        return whole.bytes();
    }

    private @Nullable String talk(Input input, byte[] said, Findings findings) throws IOException {
        Http2Answers answers = new Http2Answers(FENCE);
        try (Line line = server.line()) {
            line.send(said);
            line.waitAtMost(SILENCE_MILLIS);
            boolean isOver = false;
            while (!answers.isOver()) {
                try {
                    String fault = answers.next(line.stream());
                    if (fault != null) {
                        return fault;
                    }
                } catch (SocketTimeoutException silent) {
                    if (isOver) {
                        return "nothing within " + Line.LIMIT_MILLIS + " ms, and not closed";
                    }
                    isOver = true;
                    line.waitAtMost(Line.LIMIT_MILLIS);
                    line.endOutput();
                }
            }
            findings.count(input, "served");
        } catch (EOFException | SocketException | SSLException closed) {
            findings.count(input, answers.end().isEmpty() ? "closed" : answers.end());
        }
        return null;
    }
}
