package dev.hongbao.values;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256. Every Java runtime has it. Thread-safe. */
public final class Sha256 {
    private Sha256() {}

    /** A new digest, to be fed by the caller. */
    public static MessageDigest begin() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("this Java runtime has no SHA-256", impossible);
        }
    }

    /** The hash: 32 bytes. */
    public static byte[] of(byte[] bytes) {
        return begin().digest(bytes);
    }

    /** The hash of a text's UTF-8: 32 bytes. */
    public static byte[] of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /** The hash as 64 lower-case hexadecimal digits. */
    public static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(of(bytes));
    }

    /** The hash of a text's UTF-8, as 64 lower-case hexadecimal digits. */
    public static String hex(String text) {
        return hex(text.getBytes(StandardCharsets.UTF_8));
    }
}
