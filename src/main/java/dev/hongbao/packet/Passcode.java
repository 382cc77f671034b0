package dev.hongbao.packet;

import dev.hongbao.values.PacketId;
import dev.hongbao.values.Sha256;
import dev.hongbao.values.ShownText;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The 口令 of a packet, kept as a digest salted with the packet's id. It guards a game, not a secret: the limit on wrong tries stops
 * guessing.
 */
final class Passcode {
    private final byte[] digest;

    private Passcode(byte[] digest) {
        this.digest = digest;
    }

    /** From the typed text. Surrounding space, the Unicode form and invisible characters do not count. */
    public static Passcode of(PacketId packet, String typed) {
        return new Passcode(digest(packet, typed));
    }

    /** From the stored digest, 32 bytes. */
    public static Passcode ofDigest(byte[] digest) {
        return new Passcode(digest.clone());
    }

    /** Whether {@code typed} is the passcode. Takes the same time for every wrong one. */
    public boolean matches(PacketId packet, String typed) {
        return MessageDigest.isEqual(digest, digest(packet, typed));
    }

    /** The stored digest, 32 bytes. */
    public byte[] digest() {
        return digest.clone();
    }

    /** Whether the text has a visible character. */
    static boolean isSeen(String typed) {
        return !seen(typed).isEmpty();
    }

    private static String seen(String typed) {
        return ShownText.seen(Normalizer.normalize(typed, Normalizer.Form.NFKC));
    }

    private static byte[] digest(PacketId packet, String typed) {
        String form = seen(typed);
        MessageDigest sha256 = Sha256.begin();
        sha256.update(packet.toString().getBytes(StandardCharsets.US_ASCII));
        return sha256.digest(form.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Passcode that && Arrays.equals(digest, that.digest);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(digest);
    }

    @Override
    public String toString() {
        return "Passcode " + HexFormat.of().formatHex(digest, 0, 2) + "…";
    }
}
