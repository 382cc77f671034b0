package dev.hongbao.web.access;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.util.Arrays;
import javax.crypto.Mac;

/** The three signatures of RFC 7518 that this server knows, by the JDK's providers. Safe on any thread. */
final class Signatures {
    /** An ES256 signature: r and s, 32 bytes each. */
    private static final int ES256_BYTES = 64;

    private Signatures() {}

    static byte[] hs256(Key secret, byte[] input) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(secret);
            return mac.doFinal(input);
        } catch (GeneralSecurityException broken) {
            throw new IllegalStateException("this JDK has no HmacSHA256", broken);
        }
    }

    static boolean verify(VerificationKey key, byte[] input, byte[] signature) {
        return switch (key.algorithm()) {
            case HS256 -> MessageDigest.isEqual(hs256(key.key(), input), signature);
            case RS256 -> verify("SHA256withRSA", key.key(), input, signature);
            case ES256 ->
                hasNonZeroHalves(signature) && verify("SHA256withECDSAinP1363Format", key.key(), input, signature);
        };
    }

    private static boolean verify(String name, Key key, byte[] input, byte[] signature) {
        try {
            Signature verifier = Signature.getInstance(name);
            verifier.initVerify((PublicKey) key);
            verifier.update(input);
            return verifier.verify(signature);
        } catch (GeneralSecurityException malformed) {
            return false;
        }
    }

    /** A JDK before 17.0.3 accepts r = s = 0 from anyone (CVE-2022-21449). */
    private static boolean hasNonZeroHalves(byte[] signature) {
        return signature.length == ES256_BYTES
                && new BigInteger(1, Arrays.copyOfRange(signature, 0, ES256_BYTES / 2)).signum() != 0
                && new BigInteger(1, Arrays.copyOfRange(signature, ES256_BYTES / 2, ES256_BYTES)).signum() != 0;
    }
}
