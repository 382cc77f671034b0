package dev.hongbao.engine.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A Lua script and the SHA under which EVALSHA finds it.
 *
 * @param sha lower-case hex SHA-1 of {@code text}
 */
public record Script(String text, String sha) {

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
     * The text of {@code lua/<name>.lua} on the class path.
     *
     * @throws IllegalStateException when the jar lacks it
     */
    public static String read(String name) {
        String path = "/lua/" + name + ".lua";
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
