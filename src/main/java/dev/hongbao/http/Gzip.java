package dev.hongbao.http;

import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Compresses public files and exports. No other answer may be compressed: if a secret stands beside an attacker's text, the
 * length reveals the secret bit by bit (BREACH). Not thread-safe.
 */
final class Gzip {
    /** Headers of a compressed answer. */
    public static final List<String> HEADERS = List.of("Content-Encoding", "gzip", "Vary", "Accept-Encoding");

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final GZIPOutputStream zip;

    public Gzip() {
        try {
            zip = new GZIPOutputStream(bytes);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** The bytes to send so far; may be empty. */
    public Buffer add(String text) {
        try {
            zip.write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return taken();
    }

    /** The rest; once. */
    public Buffer end() {
        try {
            zip.close();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return taken();
    }

    private Buffer taken() {
        Buffer taken = Buffer.buffer(bytes.toByteArray());
        bytes.reset();
        return taken;
    }

    static Buffer of(Buffer plain) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(plain.getBytes());
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return Buffer.buffer(out.toByteArray());
    }

    /** Whether an {@code Accept-Encoding} names it, and not with {@code q=0}. @param header null for none */
    public static boolean isAccepted(@Nullable String header) {
        if (header == null) {
            return false;
        }
        for (String part : header.toLowerCase(Locale.ROOT).split(",", -1)) {
            String[] words = part.split(";", 2);
            if (words[0].strip().equals("gzip")) {
                return words.length == 1 || !words[1].strip().matches("q=0(\\.0*)?");
            }
        }
        return false;
    }
}
