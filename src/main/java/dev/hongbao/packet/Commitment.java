package dev.hongbao.packet;

import dev.hongbao.packet.split.SplitAlgorithm;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Sha256;
import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * A packet's commitment at the send: the SHA-256 of its seed and of all terms of its shares. It reveals nothing of the seed, and no other
 * seed or terms have the same digest. Without passcode, recipients and greeting, so that nobody can test guesses of them against it
 * offline.
 *
 * @param splitVersion of the algorithm, see {@link SplitAlgorithm#VERSION}; 1 or more
 * @param digest 64 lower-case hexadecimal digits
 */
public record Commitment(int splitVersion, String digest) {
    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

    public Commitment {
        if (splitVersion < 1 || !DIGEST.matcher(digest).matches()) {
            throw new IllegalArgumentException("not a commitment: version " + splitVersion + ", " + digest);
        }
    }

    /**
     * The commitment of a new packet.
     *
     * @param seed 32 bytes
     */
    public static Commitment of(UUID packet, Asset asset, SplitTerms terms, byte[] seed) {
        return new Commitment(SplitAlgorithm.VERSION, Sha256.hex(text(packet, asset, terms, seed)));
    }

    /** The digested text: ten lines of ASCII, each with a line feed at its end, named as in the API. */
    public static String text(UUID packet, Asset asset, SplitTerms terms, byte[] seed) {
        return "hongbao-packet-v1"
                + "\nid=" + packet
                + "\nseed=" + HexFormat.of().formatHex(seed)
                + "\nasset=" + asset.code()
                + "\namount=" + terms.total()
                + "\ncount=" + terms.count()
                + "\nmin=" + terms.min()
                + "\nmax=" + terms.max()
                + "\nsplit=" + terms.algorithm().wireName()
                + "\nsplitVersion=" + SplitAlgorithm.VERSION
                + "\n";
    }
}
