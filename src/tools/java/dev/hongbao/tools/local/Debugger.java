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
import java.util.concurrent.CountDownLatch;
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

    /** The fate of a method. */
    public enum Act {
        /** The JVM stops, with all its threads, where the method begins the next time. */
        STAND_STILL,
        /** The method, which returns nothing, does nothing. */
        LEAVE_OUT,
        /** The method, of an object, does its work twice. */
        RUN_TWICE
    }

    /** The beginning of a method. */
    private record Stop(Act act, String type, String method, CountDownLatch reached, Set<ReferenceType> marked) {}

    /** Whether this Java has the module. */
    public static boolean isThere() {
        return ModuleLayer.boot().findModule("jdk.jdi").isPresent();
    }

    /** Waits on its own thread for one JVM that starts with {@link #flag}. */
    public Debugger() throws IOException {
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
            ThreadReference thread = reached.thread();
            try {
                switch (wanted.act) {
                    case STAND_STILL -> {
                        boolean isFirst = wanted.reached.getCount() > 0;
                        wanted.reached.countDown();
                        return isFirst;
                    }
                    case LEAVE_OUT ->
                        thread.forceEarlyReturn(thread.virtualMachine().mirrorOfVoid());
                    case RUN_TWICE -> runOnceMore(reached, thread);
                }
            } catch (InvalidTypeException
                    | ClassNotLoadedException
                    | IncompatibleThreadStateException
                    | InvocationException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
        return false;
    }

    private static void runOnceMore(BreakpointEvent reached, ThreadReference thread)
            throws InvalidTypeException, ClassNotLoadedException, IncompatibleThreadStateException,
                    InvocationException {
        reached.request().disable(); // else the second run reaches it, too
        try {
            StackFrame frame = thread.frame(0);
            frame.thisObject()
                    .invokeMethod(
                            thread,
                            reached.location().method(),
                            frame.getArgumentValues(),
                            ObjectReference.INVOKE_SINGLE_THREADED);
        } finally {
            reached.request().enable();
        }
    }

    /**
     * Does this to all methods of this name from now on. @param type the binary name of a class, loaded or not
     *
     * @throws IOException if it is not connected
     */
    public synchronized void at(Act act, String type, String method) throws IOException {
        Stop wanted = new Stop(act, type, method, new CountDownLatch(1), new HashSet<>());
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
        return wanted.reached.await(limitMillis, TimeUnit.MILLISECONDS);
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
