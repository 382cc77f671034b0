package dev.hongbao.access;

import static dev.hongbao.access.TestKeys.ec;
import static dev.hongbao.access.TestKeys.jwk;
import static dev.hongbao.access.TestKeys.rsa;
import static dev.hongbao.access.TestKeys.set;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.access.TokenTrust.KeyRing;
import java.security.KeyPair;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which keys of a set are taken. */
class JwkSetTest {
    @Test
    void whatCannotBeUsedIsPassedOverAndTheRestIsTaken() throws Exception {
        KeyPair rsa = rsa(2048);
        KeyPair ec = ec("secp256r1");
        String json = set(
                jwk(rsa, "for-encryption", ",\"use\":\"enc\""),
                jwk(rsa, "to-sign", ",\"key_ops\":[\"sign\"]"),
                jwk(rsa, "other-algorithm", ",\"alg\":\"PS256\""),
                jwk(rsa, "algorithm-of-others", ",\"alg\":\"ES256\""),
                jwk(rsa(1024), "weak", ""),
                jwk(ec("secp384r1"), "not-on-the-curve", ""),
                "{\"kty\":\"RSA\",\"kid\":\"half\",\"n\":\"AQAB\"}",
                "{\"kty\":\"RSA\",\"kid\":7,\"n\":\"AQAB\",\"e\":\"AQAB\"}",
                "{\"kty\":\"oct\",\"k\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\"alg\":\"HS256\"}",
                "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}",
                "{\"kty\":\"tomorrow\"}",
                "{}",
                jwk(rsa, "r", ",\"use\":\"sig\",\"key_ops\":[\"verify\"],\"alg\":\"RS256\",\"x5t\":\"abc\""),
                jwk(ec, "e", ""));

        assertThat(VerificationKey.ofSet(json))
                .extracting(VerificationKey::toString)
                .containsExactly("RS256 r", "ES256 e");
    }

    @Test
    void aSetWithoutAKeyToUseIsRefusedWithTheReason() throws Exception {
        KeyPair rsa = rsa(2048);
        String weak = set(jwk(rsa(1024), "weak", ""));
        String twice = "{\"keys\":[],\"keys\":[" + jwk(rsa, "r", "") + "]}";
        String tooMany =
                set(IntStream.range(0, 21).mapToObj(i -> jwk(rsa, "r" + i, "")).toArray(String[]::new));

        assertThatThrownBy(() -> VerificationKey.ofSet(weak)).hasMessageContainingAll("holds no key", "2048 bits");
        assertThatThrownBy(() -> VerificationKey.ofSet("{}")).hasMessageContaining("holds no key");
        assertThatThrownBy(() -> VerificationKey.ofSet("{")).hasMessage("not a JWK set: [# ends in the middle]");
        assertThatThrownBy(() -> VerificationKey.ofSet("[]")).hasMessageContaining("not a JWK set");
        assertThatThrownBy(() -> VerificationKey.ofSet("{\"keys\":7}")).hasMessageContaining("not a JWK set");
        assertThatThrownBy(() -> VerificationKey.ofSet("{\"keys\":[7]}")).hasMessageContaining("not a JWK set");
        assertThatThrownBy(() -> VerificationKey.ofSet(twice)).hasMessageContaining("not a JWK set");
        assertThatThrownBy(() -> VerificationKey.ofSet(tooMany)).hasMessageContaining("more than 20");
        assertThatThrownBy(() -> VerificationKey.ofSet("{\"keys\":" + "[".repeat(1000)))
                .hasMessageContaining("not a JWK set");
    }

    @Test
    void keysAreEqualByWhatTheyVerifyAndTheirId() throws Exception {
        KeyPair rsa = rsa(2048);
        String one = set(jwk(rsa, "r", ""));

        assertThat(VerificationKey.ofSet(one))
                .isEqualTo(VerificationKey.ofSet(one))
                .isNotEqualTo(VerificationKey.ofSet(set(jwk(rsa, "s", ""))));
        assertThat(KeyRing.fingerprints(VerificationKey.ofSet(one), "books"))
                .as("its id does not matter to another server")
                .isEqualTo(KeyRing.fingerprints(VerificationKey.ofSet(set(jwk(rsa, "s", ""))), "books"))
                .isNotEqualTo(KeyRing.fingerprints(VerificationKey.ofSet(one), "other books"))
                .hasSize(1);
    }
}
