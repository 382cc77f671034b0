package dev.hongbao.testing;

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
}
