package dev.hongbao.values;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Properties;

/**
 * The version of this program. Immutable.
 *
 * @param version three numbers with dots
 */
public record Release(String version) {
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
        return new Release(properties.getProperty("version", ""));
    }

    /** Whether {@code version} is older than {@code other}; each is three numbers with dots. */
    public static boolean isBefore(String version, String other) {
        return Arrays.compare(numbers(version), numbers(other)) < 0;
    }

    private static int[] numbers(String version) {
        return Arrays.stream(version.split("\\.", -1))
                .mapToInt(Integer::parseInt)
                .toArray();
    }
}
