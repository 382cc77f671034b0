package dev.hongbao.tools.bench;

import java.util.List;
import java.util.stream.DoubleStream;

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
                1 / mean(loads.stream().mapToDouble(load -> 1 / load.perSecond)),
                ProcessCpu.Used.of(loads.stream().map(Speed::cpu).toList(), Speed::mean));
    }

    private static double mean(DoubleStream values) {
        return values.average().orElse(Double.NaN);
    }
}
