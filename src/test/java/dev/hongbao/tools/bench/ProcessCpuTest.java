package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProcessCpuTest {
    private static final long WORK_MICROS = 300_000;

    /** As the JVM counts this thread's time; the process has some more. */
    private static void work() {
        long begun = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - begun
                < TimeUnit.MICROSECONDS.toNanos(WORK_MICROS)) {
            Thread.onSpinWait();
        }
    }

    @Test
    void whatThisProcessDoesIsCounted() throws Exception {
        long before = ProcessCpu.ownMicros();

        work();

        assertThat(ProcessCpu.ownMicros() - before).isGreaterThanOrEqualTo(WORK_MICROS - 20_000);
    }

    @Test
    void whatItsChildrenDidIsCountedToo() throws Exception {
        // Given a child that does something, and has ended
        long before = ProcessCpu.micros(ProcessHandle.current().pid());
        long own = ProcessCpu.ownMicros();
        Process child = new ProcessBuilder("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done").start();
        child.waitFor();

        // Then
        long all = ProcessCpu.micros(ProcessHandle.current().pid()) - before;
        assertThat(all - (ProcessCpu.ownMicros() - own)).isGreaterThanOrEqualTo(20_000);
    }
}
