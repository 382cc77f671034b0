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

/** A TCP proxy that loses, delays or holds what it should pass on. Two threads for each connection. Thread-safe. */
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

    /** Listens on a free port of loopback, for a server at this port. */
    public LossyProxy(String host, int port) throws IOException {
        this(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), host, port);
    }

    /** Accepts the connections of this listener. */
    public LossyProxy(ServerSocket listener, String host, int port) {
        this.listener = listener;
        this.host = host;
        this.port = port;
        daemon(this::accept);
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** Each open connection loses the server's next answer, and breaks: the request has arrived. */
    public void loseAnswers() {
        links.forEach(link -> link.losing = true);
    }

    /** Loses everything, even the end of a connection: as if the other machine had lost its power. */
    public void fallSilent() {
        requestsLost = true;
        answersLost = true;
    }

    /** Loses everything from clients; the server's bytes arrive. */
    public void loseRequestsSilently() {
        requestsLost = true;
    }

    /** Loses everything from the server; the clients' bytes arrive. */
    public void loseAnswersSilently() {
        answersLost = true;
    }

    /** Loses everything on the open connections; new ones work: as after a failover behind one name. */
    public void swallow() {
        links.forEach(link -> link.silent = true);
    }

    /** After {@link #fallSilent} or half of it: new connections work; the older ones stay silent. */
    public void comeBack() {
        swallow();
        requestsLost = false;
        answersLost = false;
    }

    /** Delays everything, in each direction. @param millis 0 for no delay */
    public void delay(long millis) {
        delayMillis = millis;
    }

    /** Holds everything, and loses nothing: as a network that repeats lost packets. */
    public void stall() {
        synchronized (flow) {
            stalled = true;
        }
    }

    /** After {@link #stall}: everything arrives, late and in order. */
    public void flow() {
        synchronized (flow) {
            stalled = false;
            flow.notifyAll();
        }
    }

    /** Closes the open connections at both ends. */
    public void breakConnections() {
        links.forEach(link -> {
            closeQuietly(link.client);
            closeQuietly(link.server);
        });
    }

    /** New connections lead to another port. */
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
            // it is closed
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
            // closed below
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
