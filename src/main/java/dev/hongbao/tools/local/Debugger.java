package dev.hongbao.tools.local;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.IllegalConnectorArgumentsException;
import com.sun.jdi.connect.ListeningConnector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequestManager;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Has a child JVM stand still exactly where one of its methods begins, from outside, as a debugger does: the program that runs there knows
 * nothing of it. The child connects to a port of loopback that is listened to here; it listens nowhere. Thread-safe; blocking.
 */
public final class Debugger implements AutoCloseable {
    private static final String CONNECT_MILLIS = "60000";
    private static final int SILENCE_SECONDS = 20;

    private final ListeningConnector connector;
    private final Map<String, Connector.Argument> arguments;
    private final String address;
    private final CompletableFuture<VirtualMachine> connected = new CompletableFuture<>();
    private @Nullable Stop stop;

    /** Where it is to stand still. */
    private static final class Stop {
        final String type;
        final String method;
        final CompletableFuture<Void> reached = new CompletableFuture<>();
        final Set<ReferenceType> marked = new HashSet<>();

        Stop(String type, String method) {
            this.type = type;
            this.method = method;
        }
    }

    private Debugger(ListeningConnector connector, Map<String, Connector.Argument> arguments, String address) {
        this.connector = connector;
        this.arguments = arguments;
        this.address = address;
    }

    /** Whether this Java can do it: one that was made small may lack the module. */
    public static boolean isThere() {
        return ModuleLayer.boot().findModule("jdk.jdi").isPresent();
    }

    /** Waits on a thread of its own for one JVM, which is to be started with {@link #flag}. */
    public static Debugger listen() throws IOException {
        ListeningConnector connector = Bootstrap.virtualMachineManager().listeningConnectors().stream()
                .filter(each -> each.transport().name().equals("dt_socket"))
                .findFirst()
                .orElseThrow(() -> new IOException("this Java has no debugger over sockets"));
        Map<String, Connector.Argument> arguments = connector.defaultArguments();
        set(arguments, "localAddress", "127.0.0.1");
        set(arguments, "port", "0");
        set(arguments, "timeout", CONNECT_MILLIS);
        try {
            String bound = connector.startListening(arguments);
            Debugger debugger =
                    new Debugger(connector, arguments, "127.0.0.1:" + bound.substring(bound.lastIndexOf(':') + 1));
            Thread thread = new Thread(debugger::follow, "debugger");
            thread.setDaemon(true);
            thread.start();
            return debugger;
        } catch (IllegalConnectorArgumentsException wrong) {
            throw new IOException(wrong);
        }
    }

    private static void set(Map<String, Connector.Argument> arguments, String name, String value) throws IOException {
        Connector.Argument argument = arguments.get(name);
        if (argument == null) {
            throw new IOException("this Java's debugger knows no " + name);
        }
        argument.setValue(value);
    }

    /** For the child's command line. */
    public String flag() {
        return "-agentlib:jdwp=transport=dt_socket,server=n,suspend=n,address=" + address;
    }

    private void follow() {
        try {
            VirtualMachine child = connector.accept(arguments);
            connected.complete(child);
            while (true) {
                EventSet events = child.eventQueue().remove();
                if (!events.stream().anyMatch(this::isStop)) {
                    events.resume();
                }
            }
        } catch (IOException | IllegalConnectorArgumentsException | VMDisconnectedException gone) {
            connected.completeExceptionally(gone);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } finally {
            stopListening();
        }
    }

    private void stopListening() {
        try {
            connector.stopListening(arguments);
        } catch (IOException | IllegalConnectorArgumentsException closed) {
            // nobody listens any more
        }
    }

    private synchronized boolean isStop(Event event) {
        Stop wanted = stop;
        if (wanted == null) {
            return false;
        }
        if (event instanceof ClassPrepareEvent prepared) {
            mark(prepared.referenceType(), wanted);
            return false;
        }
        return event instanceof BreakpointEvent && wanted.reached.complete(null);
    }

    /**
     * From now on the JVM stands still, with all its threads, where the method begins the next time. One place at a time.
     *
     * @param type the binary name of a class, loaded or not
     * @param method all that are called so
     * @throws IOException when it is not connected
     */
    public synchronized void stopAt(String type, String method) throws IOException {
        EventRequestManager requests = child().eventRequestManager();
        Stop wanted = new Stop(type, method);
        stop = wanted;
        ClassPrepareRequest later = requests.createClassPrepareRequest();
        later.addClassFilter(type);
        later.enable();
        child().classesByName(type).forEach(loaded -> mark(loaded, wanted));
    }

    private static void mark(ReferenceType type, Stop wanted) {
        if (type.name().equals(wanted.type) && wanted.marked.add(type)) {
            for (Method method : type.methodsByName(wanted.method)) {
                BreakpointRequest request =
                        type.virtualMachine().eventRequestManager().createBreakpointRequest(method.location());
                request.setSuspendPolicy(BreakpointRequest.SUSPEND_ALL);
                request.enable();
            }
        }
    }

    /** Waits until it stands still there. @return false when the limit is over */
    public boolean awaitStop(long limitMillis) throws InterruptedException {
        Stop wanted;
        synchronized (this) {
            wanted = stop;
        }
        if (wanted == null) {
            throw new IllegalStateException("it is to stop nowhere");
        }
        try {
            wanted.reached.get(limitMillis, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException late) {
            return false;
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** It goes on, if it stands still, and does not stop any more. Does nothing when it has ended. */
    public synchronized void goOn() throws IOException {
        stop = null;
        try {
            EventRequestManager requests = child().eventRequestManager();
            requests.deleteEventRequests(List.copyOf(requests.breakpointRequests()));
            requests.deleteEventRequests(List.copyOf(requests.classPrepareRequests()));
            child().resume();
        } catch (VMDisconnectedException ended) {
            // nothing stands still there any more
        }
    }

    private VirtualMachine child() throws IOException {
        try {
            return connected.get(SILENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException(stopped);
        } catch (ExecutionException | TimeoutException gone) {
            throw new IOException("the child has not connected", gone);
        }
    }

    /** The JVM, if it runs, goes on without it. */
    @Override
    public void close() {
        stopListening();
        if (connected.isDone() && !connected.isCompletedExceptionally()) {
            try {
                connected.join().dispose();
            } catch (VMDisconnectedException ended) {
                // it is gone already
            }
        }
    }
}
