package dev.hongbao.web.http;

import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/** Conditional answers (RFC 9110, 13.1.2). The tag is strong: a digest of the very bytes this viewer gets. */
final class EntityTags {
    /** 96 bits keep two states of one packet apart. */
    private static final int TAG_BYTES = 12;

    private EntityTags() {}

    /**
     * The body, or 304 when the caller holds it.
     *
     * @param ifNoneMatch all values of the header
     */
    static Reply conditional(String json, List<String> ifNoneMatch) {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        String tag = tag(body);
        List<String> headers = List.of("ETag", tag, "Cache-Control", "private, no-cache", "Vary", "Authorization");
        return holds(ifNoneMatch, tag)
                ? new Reply(304, "", Buffer.buffer(), headers)
                : new Reply(200, Reply.JSON, Buffer.buffer(body), headers);
    }

    /** The strong tag of these bytes. */
    static String tag(byte[] body) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(body);
            String text = Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(digest, TAG_BYTES));
            return '"' + text + '"';
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Whether the caller holds a reply whose first header is its tag. */
    static boolean isHeld(Reply reply, List<String> ifNoneMatch) {
        return holds(ifNoneMatch, reply.headers().get(1));
    }

    /** Weak comparison; our tags hold no comma, so a comma inside a foreign tag does no harm. */
    private static boolean holds(List<String> ifNoneMatch, String tag) {
        for (String line : ifNoneMatch) {
            for (String candidate : line.split(",", -1)) {
                String held = candidate.strip();
                if (held.equals("*") || held.equals(tag) || held.equals("W/" + tag)) {
                    return true;
                }
            }
        }
        return false;
    }
}
