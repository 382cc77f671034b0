package dev.hongbao.common.values;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Properties;

/**
 * Which version this program is. Immutable.
 *
 * @param version three numbers with dots
 * @param previous the version whose servers may work beside this one's, and which may take over again; {@code none} for the first
 */
public record Release(String version, String previous) {
    /** This program's. */
    public static final Release THIS = read();

    private static Release read() {
        Properties properties = new Properties();
        try (InputStream in = Release.class.getResourceAsStream("/hongbao-release.properties")) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks hongbao-release.properties");
            }
            properties.load(in);
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
        return new Release(properties.getProperty("version", ""), properties.getProperty("previous", ""));
    }

    /** Whether this one came out before another. */
    public boolean isBefore(Release other) {
        return Arrays.compare(numbers(version), numbers(other.version)) < 0;
    }

    private static int[] numbers(String version) {
        return Arrays.stream(version.split("\\.", -1))
                .mapToInt(Integer::parseInt)
                .toArray();
    }
}
