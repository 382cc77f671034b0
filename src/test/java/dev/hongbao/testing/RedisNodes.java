package dev.hongbao.testing;

import dev.hongbao.tools.local.LocalRedisCluster;
import dev.hongbao.tools.local.RedisProcesses;
import java.nio.file.Path;

/** Where tests start Redis processes that they kill. */
public final class RedisNodes {
    private static final Path ROOT = Path.of("target", "test-servers");

    /** Unpacked once for all tests. */
    static final Path BINARIES = ROOT.resolve("bin");

    private RedisNodes() {}

    /** None yet, in a directory of their own. */
    public static RedisProcesses processes(String name) {
        String own = name + "-" + ProcessHandle.current().pid() + "-" + Long.toHexString(System.nanoTime());
        return new RedisProcesses(ROOT.resolve(own), BINARIES);
    }

    /** A Redis Cluster: masters 0, 1, …, and if wanted a replica of each after them. Returns when all nodes agree. */
    public static LocalRedisCluster cluster(int masters, boolean replicas) {
        return LocalRedisCluster.start(processes("cluster"), masters, replicas);
    }
}
