package dev.hongbao.testing;

import dev.hongbao.tools.local.LossyProxy;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PushbackInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** Gives servers on loopback another port, where they speak TLS to clients that do, and plain to others, such as to each other. */
public final class TlsFront implements AutoCloseable {
    /** The first byte of a TLS handshake (RFC 8446, 5.1). */
    private static final int HANDSHAKE = 22;

    /** Who has said nothing for so long is sent away: the next one waits behind him. */
    private static final int FIRST_BYTE_MILLIS = 2_000;

    private final SSLContext context;
    private final List<LossyProxy> proxies = new ArrayList<>();

    /** @param certificate what it shows */
    public TlsFront(TestCertificate certificate) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        KeyStore store = certificate.load();
        keys.init(store, TestCertificate.PASSWORD.toCharArray());
        context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
    }

    /** The port for clients of the server at a port. */
    public int of(int port) {
        try {
            LossyProxy proxy = new LossyProxy(new Listener(), "127.0.0.1", port);
            proxies.add(proxy);
            return proxy.port();
        } catch (IOException fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** A connection whose first byte can be looked at. */
    private static final class Peeked extends Socket {
        private PushbackInputStream in;

        @Override
        public PushbackInputStream getInputStream() throws IOException {
            if (in == null) {
                in = new PushbackInputStream(super.getInputStream());
            }
            return in;
        }
    }

    private final class Listener extends ServerSocket {
        Listener() throws IOException {
            super(0, 50, InetAddress.getLoopbackAddress());
        }

        @Override
        public Socket accept() throws IOException {
            while (true) {
                Peeked socket = new Peeked();
                implAccept(socket);
                try {
                    return secured(socket);
                } catch (IOException silentOrGone) {
                    socket.close();
                }
            }
        }

        private Socket secured(Peeked socket) throws IOException {
            socket.setSoTimeout(FIRST_BYTE_MILLIS);
            int first = socket.getInputStream().read();
            socket.setSoTimeout(0);
            if (first == HANDSHAKE) {
                return context.getSocketFactory()
                        .createSocket(socket, new ByteArrayInputStream(new byte[] {HANDSHAKE}), true);
            }
            if (first >= 0) {
                socket.getInputStream().unread(first);
            }
            return socket;
        }
    }

    @Override
    public void close() throws IOException {
        for (LossyProxy proxy : proxies) {
            proxy.close();
        }
    }
}
