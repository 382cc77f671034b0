package dev.hongbao.tools.local;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A TCP proxy that can lose what the server answers, and the connection with it: the request has arrived, the answer has not. Or
 * fall silent, in one direction or both, be slow, or stall. Thread-safe; has two threads for each connection.
 */
public final class LossyProxy implements AutoCloseable {
    private final ServerSocket listener;
    private final String host;
    private volatile int port;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicInteger lost = new AtomicInteger();
    private volatile boolean requestsLost;
    private volatile boolean answersLost;
    private volatile long delayMillis;
    private final Object flow = new Object();
    private boolean stalled; // by its lock

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

    /** Listens on a free port of loopback. */
    public LossyProxy(String host, int port) throws IOException {
        this(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), host, port);
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

    /** Each connection open now loses the server's next answer, and then breaks. */
    public void loseAnswers() {
        links.forEach(link -> link.losing = true);
    }

    /**
     * From now on nothing gets through, and nobody is told: as when the other host has lost its power. Not even the end of a
     * connection gets through: it stays half open until this proxy is closed.
     */
    public void fallSilent() {
        requestsLost = true;
        answersLost = true;
    }

    /** From now on what the client says is lost, and nobody is told; what the server says arrives. */
    public void loseRequestsSilently() {
        requestsLost = true;
    }

    /** From now on what the server says is lost, and nobody is told; what the client says arrives. */
    public void loseAnswersSilently() {
        answersLost = true;
    }

    /**
     * From now on nothing gets through on the connections that are open, and nobody is told; new ones work: as when a failover has
     * put another host behind the name.
     */
    public void swallow() {
        links.forEach(link -> link.silent = true);
    }

    /** After {@link #fallSilent} or half of it: new connections work again, those from before stay silent. */
    public void comeBack() {
        swallow();
        requestsLost = false;
        answersLost = false;
    }

    /** Everything arrives so much later, in each direction. @param millis 0 for at once */
    public void delay(long millis) {
        delayMillis = millis;
    }

    /**
     * From now on nothing gets through and nothing is lost: it waits, here and with who sends, as while a network loses packets that are
     * sent again.
     */
    public void stall() {
        synchronized (flow) {
            stalled = true;
        }
    }

    /** After {@link #stall}: all that waited arrives, late and in order. */
    public void flow() {
        synchronized (flow) {
            stalled = false;
            flow.notifyAll();
        }
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

    /** New connections lead to another port; the open ones break. */
    public void leadOnlyTo(int other) {
        leadTo(other);
        breakConnections();
    }

    /** Number of lost answers. */
    public int lost() {
        return lost.get();
    }

    private void accept() {
        try {
            while (true) {
                connect(listener.accept());
            }
        } catch (IOException closed) {
            // nobody listens any more
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
                TimeUnit.MILLISECONDS.sleep(delayMillis);
                awaitFlow();
                if (isLost(link, answers)) {
                    continue;
                }
                if (answers && link.losing) {
                    lost.incrementAndGet();
                    break;
                }
                out.write(buffer, 0, read);
            }
        } catch (IOException | InterruptedException broken) {
            // both ends are closed below
        }
        if (isLost(link, answers)) {
            return;
        }
        links.remove(link);
        closeQuietly(link.client);
        closeQuietly(link.server);
    }

    private boolean isLost(Link link, boolean answers) {
        return link.silent || (answers ? answersLost : requestsLost);
    }

    private void awaitFlow() throws InterruptedException {
        synchronized (flow) {
            while (stalled) {
                flow.wait();
            }
        }
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
        flow();
    }
}
