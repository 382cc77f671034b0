package dev.hongbao.packet.split;

import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** A packet's amounts, once a packet. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class SplitMicro {
    @Param({"DOUBLE_MEAN", "INFLATE", "EVEN_LUCK"})
    public SplitAlgorithm algorithm;

    @Param({"10", "1000"})
    public int count;

    private final byte[] seed = new byte[Split.SEED_BYTES];
    private SplitTerms terms;

    @Setup
    public void terms() {
        terms = SplitTerms.of(algorithm, count * 100L, count, null, null);
    }

    @Benchmark
    public long[] split() {
        seed[0]++;
        return Split.amounts(terms, seed);
    }
}
