package dev.hongbao.testing;

import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.server.StoreAddresses;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A TCP proxy that can lose what the server answers, and the connection with it: the request has arrived, the answer has not. Or
 * fall silent.
 */
public final class LossyProxy implements AutoCloseable {
    private final ServerSocket listener;
    private final String host;
    private volatile int port;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicInteger lost = new AtomicInteger();
    private volatile boolean silent;

    private static final class Link {
        final Socket client;
        final Socket server;
        volatile boolean losing;
        volatile boolean silent;

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }
    }

    public LossyProxy(String host, int port) throws IOException {
        this(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), host, port);
    }

    /** In front of a test's Postgres. */
    public static LossyProxy ofPostgres(TestServers servers) throws IOException {
        URI postgres = URI.create(servers.postgresAppUrl());
        return new LossyProxy(postgres.getHost(), postgres.getPort());
    }

    /** For clients that connect to this listener. */
    public LossyProxy(ServerSocket listener, String host, int port) {
        this.listener = listener;
        this.host = host;
        this.port = port;
        daemon(this::accept);
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** The stores of the servers whose Postgres this is in front of: the application reaches it through here, its owner directly. */
    public StoreAddresses stores(TestServers servers) {
        StoreAddresses direct = TestEngine.stores(servers);
        String through = servers.postgresAppUrl().replace("@" + host + ":" + port, "@127.0.0.1:" + port());
        return new StoreAddresses(direct.redisUrl(), direct.owner(), PostgresAddress.of(through));
    }

    /** Each connection open now loses the server's next answer, and then breaks. */
    public void loseAnswers() {
        links.forEach(link -> link.losing = true);
    }

    /** From now on nothing gets through, and nobody is told: as when the other host has lost its power. */
    public void fallSilent() {
        silent = true;
    }

    /**
     * From now on nothing gets through on the connections that are open, and nobody is told; new ones work: as when a failover has
     * put another host behind the name.
     */
    public void swallow() {
        links.forEach(link -> link.silent = true);
    }

    /** After {@link #fallSilent}: new connections work again, those from before stay silent. */
    public void comeBack() {
        swallow();
        silent = false;
    }

    /** Ends the connections that are open; both sides are told. */
    public void breakConnections() {
        links.forEach(link -> {
            closeQuietly(link.client);
            closeQuietly(link.server);
        });
    }

    /** New connections lead to another port: there a server was started again. */
    public void leadTo(int other) {
        port = other;
    }

    /** How many answers were lost. */
    public int lost() {
        return lost.get();
    }

    private void accept() {
        try {
            while (true) {
                connect(listener.accept());
            }
        } catch (IOException closed) {
            // the test is over
        }
    }

    private void connect(Socket client) {
        try {
            Link link = new Link(client, new Socket(host, port));
            link.client.setTcpNoDelay(true);
            link.server.setTcpNoDelay(true);
            links.add(link);
            daemon(() -> pump(link, link.client, link.server, false));
            daemon(() -> pump(link, link.server, link.client, true));
        } catch (IOException nobodyThere) {
            closeQuietly(client);
        }
    }

    private void pump(Link link, Socket from, Socket to, boolean answers) {
        byte[] buffer = new byte[65_536];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read; (read = in.read(buffer)) >= 0; ) {
                if (silent || link.silent) {
                    continue;
                }
                if (answers && link.losing) {
                    lost.incrementAndGet();
                    break;
                }
                out.write(buffer, 0, read);
            }
        } catch (IOException broken) {
            // both ends are closed below
        }
        links.remove(link);
        closeQuietly(link.client);
        closeQuietly(link.server);
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "lossy-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException ignored) {
            // it is closed
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        breakConnections();
    }
}
