package dev.hongbao.cli;

import java.io.File;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** The command line that starts another command of this program. */
final class HowStarted {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_./:@%+=,-]+");

    private HowStarted() {}

    /** {@code java -jar} with the path of the jar as it was typed; run from classes, the path of the build's jar. */
    static String command() {
        return command(System.getProperty("java.class.path", ""));
    }

    static String command(String classPath) {
        boolean isOneJar = classPath.endsWith(".jar") && !classPath.contains(File.pathSeparator);
        return "java -jar "
                + quote(isOneJar ? classPath : Path.of("target", "hongbao.jar").toString());
    }

    /** The text as one word of a POSIX shell. */
    static String quote(String text) {
        return PLAIN.matcher(text).matches() ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}
