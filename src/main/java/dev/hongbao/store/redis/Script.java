package dev.hongbao.store.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A Lua script and its SHA for EVALSHA.
 *
 * @param sha lower-case hex SHA-1 of {@code text}
 */
public record Script(String text, String sha) {
    private static final String INCLUDE = "--@include ";

    public static Script of(String text) {
        return new Script(text, sha1(text));
    }

    /** Lower-case hex SHA-1 of a text's UTF-8, as Redis' {@code sha1hex}. */
    public static String sha1(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * The text of {@code lua/<name>.lua} on the class path. A line {@code --@include <name>} is replaced by the text of that
     * file, for lines that several scripts share. Comments are left out, except the ones with a placeholder.
     *
     * @throws IllegalStateException if the jar lacks the file, or an included one
     */
    public static String read(String name) {
        StringBuilder text = new StringBuilder();
        file("/lua/" + name + ".lua").lines().forEach(line -> {
            String word = line.strip();
            if (word.startsWith(INCLUDE)) {
                text.append(read(word.substring(INCLUDE.length()).strip()));
            } else {
                text.append(word.startsWith("--") && !word.contains("@") ? "" : line)
                        .append('\n');
            }
        });
        return text.toString();
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
