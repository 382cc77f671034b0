package dev.hongbao.engine.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * A Lua script and the SHA under which EVALSHA finds it.
 *
 * @param sha lower-case hex SHA-1 of {@code text}
 */
public record Script(String text, String sha) {
    private static final String FOLDER = "lua/";
    private static final String INCLUDE = "--@include ";

    /** The script whose text this is. */
    public static Script of(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return new Script(text, HexFormat.of().formatHex(digest));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * The text of {@code lua/<name>.lua} on the class path. A line {@code --@include <name>} stands for the text of that file, so
     * that scripts share the lines that must be the same in all of them.
     *
     * @throws IllegalStateException when the jar lacks it, or a file that it includes
     */
    public static String read(String name) {
        return read(FOLDER, name);
    }

    /** The same of a script, and of what it includes, that is in a folder of {@code lua}. */
    public static String readOf(String folder, String name) {
        return read(FOLDER + folder + "/", name);
    }

    private static String read(String folder, String name) {
        StringBuilder text = new StringBuilder();
        file("/" + folder + name + ".lua").lines().forEach(line -> {
            String word = line.strip();
            if (word.startsWith(INCLUDE)) {
                text.append(read(folder, word.substring(INCLUDE.length()).strip()));
            } else {
                text.append(line).append('\n');
            }
        });
        return text.toString();
    }

    /**
     * The names in {@code lua/<folder>/scripts.txt}, one a line; a line that begins with # is a remark.
     *
     * @throws IllegalStateException when the jar lacks it
     */
    public static List<String> namesOf(String folder) {
        return file("/" + FOLDER + folder + "/scripts.txt")
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList();
    }

    private static String file(String path) {
        try (InputStream in = Script.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks " + path);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
