package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProcessCpuTest {
    private static final long WORK_MICROS = 300_000;
    private static final long PID = ProcessHandle.current().pid();

    /** As the JVM counts this thread's time; the process has some more. */
    private static void work() {
        long begun = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - begun
                < TimeUnit.MICROSECONDS.toNanos(WORK_MICROS)) {
            Thread.onSpinWait();
        }
    }

    /** Without its children. */
    private static long own() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime() / 1_000;
    }

    @Test
    void theTimeOfThisProcessCounts() throws Exception {
        long before = ProcessCpu.micros(PID);

        work();

        assertThat(ProcessCpu.micros(PID) - before).isGreaterThanOrEqualTo(WORK_MICROS - 20_000);
    }

    @Test
    void theTimeOfTheJitsIsAPartOfTheProcess() {
        double compilers = ProcessCpu.compilers();

        assertThat(compilers).isPositive().isLessThan(own());
    }

    @Test
    void theTimeOfItsEndedChildrenCounts() throws Exception {
        // Given
        long before = ProcessCpu.micros(PID);
        long own = own();

        // When a child works and ends
        new ProcessBuilder("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
                .start()
                .waitFor();

        // Then
        long all = ProcessCpu.micros(PID) - before;
        assertThat(all - (own() - own)).isGreaterThanOrEqualTo(20_000);
    }
}
