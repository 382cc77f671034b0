package dev.hongbao.domain.fairness;

import dev.hongbao.common.values.Sha256;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.split.SplitAlgorithm;
import dev.hongbao.domain.split.SplitTerms;
import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * What a packet commits to when it is sent: the SHA-256 of its seed and of all that its shares follow from. It tells nothing of
 * the seed, and no other seed or terms have the same. It holds no passcode, recipients or greeting: who tries all likely ones
 * offline would learn nothing here.
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
     * The commitment of a packet that is split now.
     *
     * @param seed 32 bytes
     */
    public static Commitment of(UUID packet, Asset asset, SplitTerms terms, byte[] seed) {
        return new Commitment(SplitAlgorithm.VERSION, Sha256.hex(text(packet, asset, terms, seed)));
    }

    /** What is digested: ten lines of ASCII, each with a line feed at its end, and named as in the API. */
    static String text(UUID packet, Asset asset, SplitTerms terms, byte[] seed) {
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
