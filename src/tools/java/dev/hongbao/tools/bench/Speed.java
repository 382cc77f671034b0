package dev.hongbao.tools.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;

/** The result of a load: items a second, and the CPU of each item. */
record Speed(double perSecond, ProcessCpu.Used cpu) {
    /** Measures a load of so many items on an engine of this process. */
    static Speed of(long count, Trial.Action load) throws Exception {
        ProcessCpu.Used before = ProcessCpu.used(ProcessCpu.SELF);
        long begun = System.nanoTime();
        load.run();
        double seconds = (System.nanoTime() - begun) / 1e9;
        return new Speed(
                count / seconds, ProcessCpu.used(ProcessCpu.SELF).since(before).per(count));
    }

    /** The speed of loads of equal size, one after the other. */
    static Speed of(List<Speed> loads) {
        return new Speed(
                1 / mean(loads, load -> 1 / load.perSecond),
                new ProcessCpu.Used(
                        mean(loads, load -> load.cpu.server()),
                        mean(loads, load -> load.cpu.redis()),
                        mean(loads, load -> load.cpu.postgres()),
                        mean(loads, load -> load.cpu.load())));
    }

    private static double mean(List<Speed> loads, ToDoubleFunction<Speed> value) {
        return loads.stream().mapToDouble(value).average().orElse(Double.NaN);
    }
}
