package dev.hongbao.server;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The process' limit of open files, of which each connection is one: without one left the kernel lets nobody in, on the
 * management port neither.
 */
final class OpenFiles {
    private static final Logger LOG = LoggerFactory.getLogger(OpenFiles.class);

    /** For the stores, the management port, the jar, logs and the JVM itself: an estimate, with room. */
    private static final long RESERVED = 500;

    private OpenFiles() {}

    /** As many connections as configured, or as there may be files; the operator is told when that is fewer. */
    static int atMost(int maxConnections) {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? atMost(maxConnections, unix.getMaxFileDescriptorCount())
                : maxConnections;
    }

    /** @param openFiles the limit; 0 or less when it is not known */
    static int atMost(int maxConnections, long openFiles) {
        if (openFiles <= 0 || maxConnections <= openFiles - RESERVED) {
            return maxConnections;
        }
        int fewer = (int) Math.max(1, Math.max(openFiles - RESERVED, openFiles / 2));
        LOG.warn(
                "http.max-connections is {}, and this process may open only {} files: no more than {} connections are taken."
                        + " Raise the limit (ulimit -n, LimitNOFILE) to {}, or lower the option.",
                maxConnections,
                openFiles,
                fewer,
                maxConnections + RESERVED);
        return fewer;
    }
}
