package dev.hongbao.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.KeyType;
import com.nimbusds.jose.jwk.KeyUse;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.StrictJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads JWK sets (RFC 7517). Stateless. */
final class JwkSet {
    /** A forged token without a key id is tried with every key: 20 RSA keys cost about a millisecond. */
    private static final int MAX_KEYS = 20;

    private static final JWKMatcher RSA =
            verifying(KeyType.RSA, JWSAlgorithm.RS256).build();

    private static final JWKMatcher EC =
            verifying(KeyType.EC, JWSAlgorithm.ES256).curve(Curve.P_256).build();

    private JwkSet() {}

    /**
     * The keys of a set that verify RS256 or ES256 signatures. Ignores other keys, as RFC 7517, 5 requires: keys for another use,
     * malformed and weak keys, and secrets.
     *
     * @throws IllegalArgumentException when the text is no JWK set, or holds no such key, or more than 20
     */
    public static List<VerificationKey> read(String json) {
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
        if (RSA.matches(jwk)) {
            return VerificationKey.rs256(jwk.toRSAKey().toRSAPublicKey(), jwk.getKeyID());
        }
        return EC.matches(jwk) ? VerificationKey.es256(jwk.toECKey().toECPublicKey(), jwk.getKeyID()) : null;
    }
}
