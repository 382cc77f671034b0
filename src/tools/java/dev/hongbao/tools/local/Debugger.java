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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Has a child JVM stand still exactly where one of its methods begins, or leave the method out, or run it twice, from outside, as a debugger
 * does: the program that runs there knows nothing of it. The child connects to a port of loopback that is listened to here; it listens nowhere. Thread-safe; blocking.
 */
public final class Debugger implements AutoCloseable {
    /** Of a request: what it was made for. */
    private static final String OF = "of";

    private static final String CONNECT_MILLIS = "60000";
    private static final int SILENCE_SECONDS = 20;

    private final ListeningConnector connector;
    private final Map<String, Connector.Argument> arguments;
    private final String address;
    private final CompletableFuture<VirtualMachine> connected = new CompletableFuture<>();
    private @Nullable Stop stop;

    /** What is to happen where a method begins. */
    private enum Act {
        STAND_STILL,
        LEAVE_OUT,
        DOUBLE
    }

    /** Where it is to happen. */
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
            // nobody listens any more
        }
    }

    /** @return whether the JVM is to stand still now */
    private synchronized boolean take(Event event) {
        Stop wanted = stop;
        if (wanted == null || event.request() == null || event.request().getProperty(OF) != wanted) {
            return false; // of what nobody wants any more: it was on its way here
        }
        if (event instanceof ClassPrepareEvent prepared) {
            mark(prepared.referenceType(), wanted);
            return false;
        }
        if (!(event instanceof BreakpointEvent reached)) {
            return false;
        }
        switch (wanted.act) {
            case STAND_STILL -> {
                return wanted.reached.complete(null);
            }
            case LEAVE_OUT -> leaveOut(reached.thread());
            case DOUBLE -> runOnceMore(reached);
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
        reached.request().disable(); // else it would be reached in there, too
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
     * From now on the JVM stands still, with all its threads, where the method begins the next time. One place at a time, here and below.
     *
     * @param type the binary name of a class, loaded or not
     * @param method all that are called so
     * @throws IOException when it is not connected
     */
    public void stopAt(String type, String method) throws IOException {
        at(new Stop(Act.STAND_STILL, type, method));
    }

    /** From now on nothing is done in methods that return nothing. */
    public void leaveOut(String type, String method) throws IOException {
        at(new Stop(Act.LEAVE_OUT, type, method));
    }

    /** From now on methods of objects are run twice. */
    public void runTwice(String type, String method) throws IOException {
        at(new Stop(Act.DOUBLE, type, method));
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

    /** It goes on, if it stands still, and nothing happens to it any more. Does nothing when it has ended. */
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
