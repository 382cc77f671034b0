package dev.hongbao.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.KeyType;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.util.Base64URL;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.StrictJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A key with its only algorithm (RFC 8725, 3.1): a token's header cannot choose another. Equal if key, algorithm and id are
 * equal. Immutable.
 */
final class VerificationKey {
    private static final int MIN_RSA_BITS = 2048;

    /** A forged token without a key id is tried with every key: 20 RSA keys cost about a millisecond. */
    private static final int MAX_KEYS = 20;

    private final JWSHeader header;
    private final JWSVerifier verifier;
    private final byte[] encoded;
    private final @Nullable String id;

    private VerificationKey(JWSAlgorithm algorithm, JWSVerifier verifier, byte[] encoded, @Nullable String id) {
        this.header = new JWSHeader(algorithm);
        this.verifier = verifier;
        this.encoded = encoded;
        this.id = id;
    }

    /**
     * A shared secret for HS256.
     *
     * @throws IllegalArgumentException when it is shorter than 32 bytes, or is a PEM text: a public key is no secret
     */
    public static VerificationKey hs256(byte[] secret) {
        if (new String(secret, StandardCharsets.ISO_8859_1).contains("-----BEGIN")) {
            throw new IllegalArgumentException("a PEM text is no secret for HS256");
        }
        try {
            return new VerificationKey(JWSAlgorithm.HS256, new MACVerifier(secret), secret.clone(), null);
        } catch (JOSEException tooShort) {
            throw new IllegalArgumentException("a secret for HS256 has at least 32 bytes", tooShort);
        }
    }

    /**
     * A public key, {@code -----BEGIN PUBLIC KEY-----}: RSA of at least 2048 bits for RS256, or P-256 for ES256.
     *
     * @throws IllegalArgumentException for anything else
     */
    public static VerificationKey pem(String pem) {
        String text = pem.strip();
        String head = "-----BEGIN PUBLIC KEY-----";
        String foot = "-----END PUBLIC KEY-----";
        if (!text.startsWith(head) || !text.endsWith(foot) || text.indexOf(head, 1) >= 0) {
            throw new IllegalArgumentException("a public key is one PEM text that begins with " + head);
        }
        byte[] der = Base64.getMimeDecoder().decode(text.substring(head.length(), text.length() - foot.length()));
        X509EncodedKeySpec spec = new X509EncodedKeySpec(der);
        try {
            return rs256((RSAPublicKey) KeyFactory.getInstance("RSA").generatePublic(spec), null);
        } catch (GeneralSecurityException notRsa) {
            try {
                return es256((ECPublicKey) KeyFactory.getInstance("EC").generatePublic(spec), null);
            } catch (GeneralSecurityException neither) {
                throw new IllegalArgumentException("a public key is an RSA or a P-256 key", neither);
            }
        }
    }

    /** @throws IllegalArgumentException when it is shorter than 2048 bits */
    static VerificationKey rs256(RSAPublicKey key, @Nullable String id) {
        if (key.getModulus().bitLength() < MIN_RSA_BITS) {
            throw new IllegalArgumentException("an RSA key has at least 2048 bits");
        }
        return new VerificationKey(JWSAlgorithm.RS256, new RSASSAVerifier(key), key.getEncoded(), id);
    }

    /** @throws IllegalArgumentException when it is not on the curve P-256 */
    static VerificationKey es256(ECPublicKey key, @Nullable String id) {
        try {
            ECDSAVerifier verifier = new ECDSAVerifier(key);
            if (verifier.supportedJWSAlgorithms().contains(JWSAlgorithm.ES256)) {
                return new VerificationKey(JWSAlgorithm.ES256, verifier, key.getEncoded(), id);
            }
        } catch (JOSEException unknownCurve) {
            throw new IllegalArgumentException("an EC key is on the curve P-256", unknownCurve);
        }
        throw new IllegalArgumentException("an EC key is on the curve P-256");
    }

    /**
     * The keys of a JWK set (RFC 7517) that verify RS256 or ES256 signatures. Ignores other keys, as RFC 7517, 5 requires: keys for another
     * use, malformed and weak keys, and secrets.
     *
     * @throws IllegalArgumentException when the text is no JWK set, or holds no such key, or more than 20
     */
    public static List<VerificationKey> ofSet(String json) {
        List<VerificationKey> keys = new ArrayList<>();
        String whyNone = "";
        try {
            JsonArray set = StrictJson.FOREIGN.decode(json).getJsonArray("keys", new JsonArray());
            for (int i = 0; i < set.size(); i++) {
                JsonObject entry = set.getJsonObject(i);
                try {
                    VerificationKey key = key(JWK.parse(entry.encode()));
                    if (key != null) {
                        keys.add(key);
                    }
                } catch (ParseException | JOSEException | IllegalArgumentException unusable) {
                    whyNone = ": " + unusable.getMessage();
                }
            }
        } catch (InvalidInputException | ClassCastException malformed) {
            throw new IllegalArgumentException("not a JWK set: " + malformed.getMessage(), malformed);
        }
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("the JWK set holds no key for RS256 or ES256" + whyNone);
        }
        if (keys.size() > MAX_KEYS) {
            throw new IllegalArgumentException("the JWK set holds more than " + MAX_KEYS + " keys");
        }
        return List.copyOf(keys);
    }

    private static JWKMatcher.Builder verifying(KeyType type, JWSAlgorithm algorithm) {
        return new JWKMatcher.Builder()
                .keyType(type)
                .algorithms(algorithm, null)
                .keyUses(KeyUse.SIGNATURE, null)
                .keyOperations(KeyOperation.VERIFY, null)
                .nonRevokedOnly(true);
    }

    private static @Nullable VerificationKey key(JWK jwk) throws JOSEException {
        if (verifying(KeyType.RSA, JWSAlgorithm.RS256).build().matches(jwk)) {
            return VerificationKey.rs256(jwk.toRSAKey().toRSAPublicKey(), jwk.getKeyID());
        }
        return verifying(KeyType.EC, JWSAlgorithm.ES256)
                        .curve(Curve.P_256)
                        .build()
                        .matches(jwk)
                ? VerificationKey.es256(jwk.toECKey().toECPublicKey(), jwk.getKeyID())
                : null;
    }

    /** The only algorithm this key is used with, as RFC 7518 names it: HS256, RS256 or ES256. */
    public String algorithm() {
        return header.getAlgorithm().getName();
    }

    /** A secret's bytes, or a public key as X.509 encodes it. Not to be changed. */
    byte[] encoded() {
        return encoded;
    }

    /** Whether a token whose header says this may be signed by this key; a key without an id fits every {@code kid}. */
    boolean fits(String headerAlgorithm, @Nullable String headerKid) {
        return algorithm().equals(headerAlgorithm) && (id == null || headerKid == null || id.equals(headerKid));
    }

    /** Whether {@code signature} is this key's, with this key's algorithm, over {@code input}. */
    boolean verifies(byte[] input, byte[] signature) {
        try {
            return verifier.verify(header, input, Base64URL.encode(signature));
        } catch (JOSEException malformed) {
            return false;
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof VerificationKey key
                && algorithm().equals(key.algorithm())
                && Arrays.equals(encoded, key.encoded)
                && (id == null ? key.id == null : id.equals(key.id));
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(encoded);
    }

    @Override
    public String toString() {
        return algorithm() + (id == null ? "" : " " + id);
    }
}
