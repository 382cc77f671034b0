package dev.hongbao.tools.local;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.ClassNotLoadedException;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.InvalidTypeException;
import com.sun.jdi.InvocationException;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
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
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Stops a child JVM exactly where a method begins, or leaves the method out, or runs it twice; from outside, as a debugger. The child
 * connects to a port of loopback here, and listens nowhere. One place at a time. Thread-safe; blocking.
 */
public final class Debugger implements AutoCloseable {
    /** The property of a request: its {@link Stop}. */
    private static final String OF = "of";

    private static final String CONNECT_MILLIS = "60000";
    private static final int SILENCE_SECONDS = 20;

    private final ListeningConnector connector;
    private final Map<String, Connector.Argument> arguments;
    private final String address;
    private final CompletableFuture<VirtualMachine> connected = new CompletableFuture<>();
    private @Nullable Stop stop;

    private enum Act {
        STAND_STILL,
        LEAVE_OUT,
        RUN_TWICE
    }

    /** The beginning of a method. */
    private static final class Stop {
        final Act act;
        final String type;
        final String method;
        final CompletableFuture<Void> reached = new CompletableFuture<>();
        final Set<ReferenceType> marked = new HashSet<>();

        Stop(Act act, String type, String method) {
            this.act = act;
            this.type = type;
            this.method = method;
        }
    }

    /** Whether this Java has the module. */
    public static boolean isThere() {
        return ModuleLayer.boot().findModule("jdk.jdi").isPresent();
    }

    /** Waits on its own thread for one JVM that starts with {@link #flag}. */
    public static Debugger listen() throws IOException {
        return new Debugger();
    }

    private Debugger() throws IOException {
        connector = Bootstrap.virtualMachineManager().listeningConnectors().stream()
                .filter(each -> each.transport().name().equals("dt_socket"))
                .findFirst()
                .orElseThrow(() -> new IOException("this Java has no debugger over sockets"));
        arguments = connector.defaultArguments();
        Map.of("localAddress", "127.0.0.1", "port", "0", "timeout", CONNECT_MILLIS)
                .forEach((name, value) ->
                        Objects.requireNonNull(arguments.get(name)).setValue(value));
        try {
            String bound = connector.startListening(arguments);
            address = "127.0.0.1:" + bound.substring(bound.lastIndexOf(':') + 1);
        } catch (IllegalConnectorArgumentsException wrong) {
            throw new IOException(wrong);
        }
        Thread thread = new Thread(this::follow, "debugger");
        thread.setDaemon(true);
        thread.start();
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
                boolean stands = false;
                for (Event event : events) {
                    stands |= take(event);
                }
                if (!stands) {
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
            // it does not listen any more
        }
    }

    /** @return whether the JVM stands still now */
    private synchronized boolean take(Event event) {
        Stop wanted = stop;
        if (wanted == null || event.request() == null || event.request().getProperty(OF) != wanted) {
            return false; // a late event of an earlier stop
        }
        if (event instanceof ClassPrepareEvent prepared) {
            mark(prepared.referenceType(), wanted);
        } else if (event instanceof BreakpointEvent reached) {
            switch (wanted.act) {
                case STAND_STILL -> {
                    return wanted.reached.complete(null);
                }
                case LEAVE_OUT -> leaveOut(reached.thread());
                case RUN_TWICE -> runOnceMore(reached);
            }
        }
        return false;
    }

    private static void leaveOut(ThreadReference thread) {
        try {
            thread.forceEarlyReturn(thread.virtualMachine().mirrorOfVoid());
        } catch (InvalidTypeException | ClassNotLoadedException | IncompatibleThreadStateException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void runOnceMore(BreakpointEvent reached) {
        reached.request().disable(); // else the second run reaches it, too
        try {
            StackFrame frame = reached.thread().frame(0);
            ObjectReference itself = frame.thisObject();
            itself.invokeMethod(
                    reached.thread(),
                    reached.location().method(),
                    frame.getArgumentValues(),
                    ObjectReference.INVOKE_SINGLE_THREADED);
        } catch (InvalidTypeException
                | ClassNotLoadedException
                | IncompatibleThreadStateException
                | InvocationException impossible) {
            throw new IllegalStateException(impossible);
        } finally {
            reached.request().enable();
        }
    }

    /**
     * Stops the JVM, with all its threads, where the method begins the next time.
     *
     * @param type the binary name of a class, loaded or not
     * @param method all methods of this name
     * @throws IOException if it is not connected
     */
    public void stopAt(String type, String method) throws IOException {
        at(new Stop(Act.STAND_STILL, type, method));
    }

    /** Leaves methods out that return nothing. */
    public void leaveOut(String type, String method) throws IOException {
        at(new Stop(Act.LEAVE_OUT, type, method));
    }

    /** Runs methods of objects twice. */
    public void runTwice(String type, String method) throws IOException {
        at(new Stop(Act.RUN_TWICE, type, method));
    }

    private synchronized void at(Stop wanted) throws IOException {
        EventRequestManager requests = child().eventRequestManager();
        stop = wanted;
        ClassPrepareRequest later = requests.createClassPrepareRequest();
        later.addClassFilter(wanted.type);
        later.putProperty(OF, wanted);
        later.enable();
        child().classesByName(wanted.type).forEach(loaded -> mark(loaded, wanted));
    }

    private static void mark(ReferenceType type, Stop wanted) {
        if (type.name().equals(wanted.type) && wanted.marked.add(type)) {
            for (Method method : type.methodsByName(wanted.method)) {
                BreakpointRequest request =
                        type.virtualMachine().eventRequestManager().createBreakpointRequest(method.location());
                request.putProperty(OF, wanted);
                request.setSuspendPolicy(
                        wanted.act == Act.STAND_STILL
                                ? BreakpointRequest.SUSPEND_ALL
                                : BreakpointRequest.SUSPEND_EVENT_THREAD);
                request.enable();
            }
        }
    }

    /** Waits until it stands still there. @return whether it does within the limit */
    public boolean awaitStop(long limitMillis) throws InterruptedException {
        Stop wanted;
        synchronized (this) {
            wanted = Objects.requireNonNull(stop);
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

    /** Lets it go on, and forgets the place. Does nothing after its end. */
    public synchronized void goOn() throws IOException {
        stop = null;
        try {
            EventRequestManager requests = child().eventRequestManager();
            requests.deleteEventRequests(List.copyOf(requests.breakpointRequests()));
            requests.deleteEventRequests(List.copyOf(requests.classPrepareRequests()));
            child().resume();
        } catch (VMDisconnectedException ended) {
            // it stands still nowhere
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

    /** The JVM, if it runs, goes on alone. */
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
