package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.check.Answer;
import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Operation;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** All operations of a run in memory, and a file with a line for each start and end. Thread-safe. */
public final class History implements AutoCloseable {
    private final int most;
    private final LongSupplier nanos;
    private final long begunNanos;
    private final AtomicLong numbers = new AtomicLong();
    private final List<Operation> operations = new ArrayList<>();
    private final BufferedWriter file;

    /** @param most operations until {@link #isFull}; it still keeps the calls that have begun by then */
    public History(Path file, int most, LongSupplier nanos) throws IOException {
        this.file = Files.newBufferedWriter(file);
        this.most = most;
        this.nanos = nanos;
        this.begunNanos = nanos.getAsLong();
    }

    /** The run's clock: microseconds since it began. */
    public long micros() {
        return TimeUnit.NANOSECONDS.toMicros(nanos.getAsLong() - begunNanos);
    }

    /** Makes a call and keeps it with its answer. @param made never throws */
    public Operation perform(Call call, Function<Call, Answer> made) {
        long number = numbers.incrementAndGet();
        long started = micros();
        write(started + " " + number + " invoke " + call);
        Answer answer = made.apply(call);
        Operation operation = new Operation(number, call, started, micros(), answer);
        write(operation.endMicros() + " " + number + " " + answer);
        synchronized (operations) {
            operations.add(operation);
        }
        return operation;
    }

    /** Writes another event to the file only. */
    public void note(String text) {
        write(micros() + " 0 " + text);
    }

    /** Whether the load must end, since memory does. */
    public boolean isFull() {
        synchronized (operations) {
            return operations.size() >= most;
        }
    }

    /** A copy, by end. */
    public List<Operation> operations() {
        synchronized (operations) {
            return List.copyOf(operations);
        }
    }

    private void write(String line) {
        synchronized (file) {
            try {
                file.write(line);
                file.newLine();
            } catch (IOException full) {
                throw new UncheckedIOException(full);
            }
        }
    }

    @Override
    public void close() throws IOException {
        synchronized (file) {
            file.close();
        }
    }
}
