package dev.hongbao.web.access;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.StrictJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * A key together with the one algorithm it is used with (RFC 8725, 3.1): what a token's header says can never choose another
 * one. Immutable.
 */
public final class VerificationKey {
    /** What this server verifies. */
    public enum Algorithm {
        HS256,
        RS256,
        ES256
    }

    private static final int MIN_SECRET_BYTES = 32;
    private static final int MIN_RSA_BITS = 2048;
    private static final int P256_BITS = 256;

    private final Algorithm algorithm;
    private final Key key;
    private final @Nullable String id;

    private VerificationKey(Algorithm algorithm, Key key, @Nullable String id) {
        this.algorithm = algorithm;
        this.key = key;
        this.id = id;
    }

    /**
     * A shared secret for HS256.
     *
     * @throws IllegalArgumentException when it is shorter than 32 bytes, or is a PEM text: a public key is no secret
     */
    public static VerificationKey hs256(byte[] secret) {
        if (secret.length < MIN_SECRET_BYTES) {
            throw new IllegalArgumentException("a secret for HS256 has at least 32 bytes");
        }
        if (new String(secret, StandardCharsets.ISO_8859_1).contains("-----BEGIN")) {
            throw new IllegalArgumentException("a PEM text is no secret for HS256");
        }
        return new VerificationKey(Algorithm.HS256, new SecretKeySpec(secret, "HmacSHA256"), null);
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

    /**
     * The keys of a JWK set (RFC 7517) that verify RS256 or ES256 signatures. Others are passed over, secrets too.
     *
     * @throws IllegalArgumentException when the text is no JWK set, or holds no such key
     */
    public static List<VerificationKey> jwks(String json) {
        List<VerificationKey> keys = new ArrayList<>();
        try {
            JsonArray set = StrictJson.FOREIGN.decode(json).getJsonArray("keys", new JsonArray());
            for (int i = 0; i < set.size(); i++) {
                VerificationKey key = jwk(set.getJsonObject(i));
                if (key != null) {
                    keys.add(key);
                }
            }
        } catch (InvalidInputException | ClassCastException | GeneralSecurityException malformed) {
            throw new IllegalArgumentException("not a JWK set: " + malformed.getMessage(), malformed);
        }
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("the JWK set holds no key for RS256 or ES256");
        }
        return List.copyOf(keys);
    }

    private static @Nullable VerificationKey jwk(JsonObject jwk) throws GeneralSecurityException {
        String use = jwk.getString("use", "sig");
        String type = jwk.getString("kty", "");
        String algorithm = jwk.getString("alg", type.equals("RSA") ? "RS256" : "ES256");
        String id = jwk.getString("kid");
        if (!use.equals("sig")) {
            return null;
        }
        if (type.equals("RSA") && algorithm.equals("RS256")) {
            RSAPublicKeySpec spec = new RSAPublicKeySpec(number(jwk, "n"), number(jwk, "e"));
            return rs256((RSAPublicKey) KeyFactory.getInstance("RSA").generatePublic(spec), id);
        }
        if (type.equals("EC") && algorithm.equals("ES256") && "P-256".equals(jwk.getString("crv"))) {
            AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
            parameters.init(new ECGenParameterSpec("secp256r1"));
            ECPublicKeySpec spec = new ECPublicKeySpec(
                    new ECPoint(number(jwk, "x"), number(jwk, "y")),
                    parameters.getParameterSpec(ECParameterSpec.class));
            return es256((ECPublicKey) KeyFactory.getInstance("EC").generatePublic(spec), id);
        }
        return null;
    }

    private static BigInteger number(JsonObject jwk, String field) {
        return new BigInteger(1, Base64.getUrlDecoder().decode(jwk.getString(field, "")));
    }

    private static VerificationKey rs256(RSAPublicKey key, @Nullable String id) {
        if (key.getModulus().bitLength() < MIN_RSA_BITS) {
            throw new IllegalArgumentException("an RSA key has at least 2048 bits");
        }
        return new VerificationKey(Algorithm.RS256, key, id);
    }

    private static VerificationKey es256(ECPublicKey key, @Nullable String id) {
        ECParameterSpec curve = key.getParams();
        if (curve.getCurve().getField().getFieldSize() != P256_BITS
                || !curve.toString().toLowerCase(Locale.ROOT).contains("secp256r1")) {
            throw new IllegalArgumentException("an EC key is on the curve P-256");
        }
        return new VerificationKey(Algorithm.ES256, key, id);
    }

    /** The only algorithm this key is used with. */
    public Algorithm algorithm() {
        return algorithm;
    }

    Key key() {
        return key;
    }

    /** Whether a token whose header says this may be signed by this key; a key without an id fits every {@code kid}. */
    boolean fits(String headerAlgorithm, @Nullable String headerKid) {
        return algorithm.name().equals(headerAlgorithm) && (id == null || headerKid == null || id.equals(headerKid));
    }

    @Override
    public String toString() {
        return algorithm + (id == null ? "" : " " + id);
    }
}
