package dev.hongbao.access;

import static dev.hongbao.access.TestKeys.ec;
import static dev.hongbao.access.TestKeys.encode;
import static dev.hongbao.access.TestKeys.hmac;
import static dev.hongbao.access.TestKeys.hs256;
import static dev.hongbao.access.TestKeys.jwk;
import static dev.hongbao.access.TestKeys.pem;
import static dev.hongbao.access.TestKeys.rsa;
import static dev.hongbao.access.TestKeys.secret;
import static dev.hongbao.access.TestKeys.set;
import static dev.hongbao.access.TestKeys.signed;
import static dev.hongbao.access.TestKeys.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.Tokens.TokenVerdict.Fault;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.interfaces.RSAPublicKey;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Several keys at once, and keys that change. */
class TokenRotationTest {
    private static final Instant NOW = Instant.parse("2026-02-17T00:00:00Z");
    private static final String HS256 = "{\"alg\":\"HS256\"}";
    private static final String CLAIMS = "{\"sub\":\"alice\",\"exp\":" + (NOW.getEpochSecond() + 60) + "}";
    private static final String RS = "SHA256withRSA";
    private static final String ES = "SHA256withECDSAinP1363Format";

    private final MovableClock clock = new MovableClock(NOW);

    @Test
    void aKeyThatWasRotatedOutTakesWhatIsRememberedAlong() {
        // Given a token that was believed, and is remembered
        Tokens tokens = tokens(clock, hs256("old"));
        String before = hmac(HS256, CLAIMS, secret("old"));
        String after = hmac(HS256, CLAIMS, secret("new"));
        assertThat(tokens.verify(before).fault()).isNull();
        assertThat(tokens.verify(after).fault()).isEqualTo(Fault.SIGNATURE);

        // When both are good
        tokens.trust(Set.of(hs256("new"), hs256("old")));
        assertThat(tokens.verify(before).fault()).isNull();
        assertThat(tokens.verify(after).fault()).isNull();

        // Then the old one is worth nothing once its key is gone
        tokens.trust(Set.of(hs256("new")));
        assertThat(tokens.verify(before).fault()).isEqualTo(Fault.SIGNATURE);
        assertThat(tokens.verify(after).fault()).isNull();
    }

    /** Otherwise a check that began with the old key could be remembered after it went. */
    @Test
    void noCheckThatBeganBeforeOutlivesTheKey() throws Exception {
        Tokens tokens = tokens(clock, hs256("old"));
        String before = hmac(HS256, CLAIMS, secret("old"));
        AtomicBoolean stop = new AtomicBoolean();
        CountDownLatch running = new CountDownLatch(1);
        Thread caller = new Thread(() -> {
            while (!stop.get()) {
                var unused = tokens.verify(before);
                running.countDown();
            }
        });
        caller.start();
        running.await();
        try {
            for (int round = 0; round < 2_000; round++) {
                tokens.trust(Set.of(hs256("old")));
                tokens.trust(Set.of(hs256("new")));
                assertThat(tokens.verify(before).fault()).as("round %d", round).isEqualTo(Fault.SIGNATURE);
                assertThat(tokens.cachedBytes()).isZero();
            }
        } finally {
            stop.set(true);
            caller.join();
        }
    }

    @Test
    void aKeyNeverVerifiesWhatAnotherAlgorithmOrAnotherKeySigned() throws Exception {
        // Given three keys with ids, and one that is not known
        KeyPair r1 = rsa(2048);
        KeyPair r2 = rsa(2048, 2);
        KeyPair e1 = ec("secp256r1");
        KeyPair mallory = rsa(2048, 3);
        Tokens tokens = tokens(
                clock,
                VerificationKey.ofSet(set(jwk(r1, "r1", ""), jwk(r2, "r2", ""), jwk(e1, "e1", "")))
                        .toArray(VerificationKey[]::new));
        byte[] modulus = ((RSAPublicKey) r1.getPublic()).getModulus().toByteArray();
        String good = signed(header("RS256", "r1"), CLAIMS, r1, RS);
        String byEc = signed(header("ES256", "e1"), CLAIMS, e1, ES);

        // When, Then
        assertThat(tokens.verify(good).fault()).isNull();
        assertThat(tokens.verify(byEc).fault()).isNull();
        assertThat(tokens.verify(signed("{\"alg\":\"RS256\"}", CLAIMS, r2, RS)).fault())
                .as("without an id every key of the algorithm is tried")
                .isNull();
        Map<String, Fault> hostile = new LinkedHashMap<>();
        // Public bytes as a secret
        for (byte[] known : List.of(
                r1.getPublic().getEncoded(),
                pem(r1).getBytes(StandardCharsets.US_ASCII),
                modulus,
                e1.getPublic().getEncoded(),
                jwk(r1, "r1", "").getBytes(StandardCharsets.US_ASCII))) {
            hostile.put(hmac(header("HS256", "r1"), CLAIMS, known), Fault.ALGORITHM);
            hostile.put(hmac(header("RS256", "r1"), CLAIMS, known), Fault.SIGNATURE);
        }
        // One key's signature under another's id or algorithm
        hostile.put(signed(header("RS256", "r2"), CLAIMS, r1, RS), Fault.SIGNATURE);
        hostile.put(signed(header("RS256", "e1"), CLAIMS, r1, RS), Fault.ALGORITHM);
        hostile.put(signed(header("ES256", "r1"), CLAIMS, e1, ES), Fault.ALGORITHM);
        hostile.put(signed(header("RS256", "e1"), CLAIMS, e1, ES), Fault.ALGORITHM);
        hostile.put(signed(header("RS256", "r1"), CLAIMS, e1, ES), Fault.SIGNATURE);
        hostile.put(signed(header("ES256", "e1"), CLAIMS, r1, RS), Fault.SIGNATURE);
        // The right key with an algorithm that is not its own
        hostile.put(signed(header("RS512", "r1"), CLAIMS, r1, "SHA512withRSA"), Fault.ALGORITHM);
        hostile.put(signed(header("RS256", "r1"), CLAIMS, r1, "SHA512withRSA"), Fault.SIGNATURE);
        hostile.put(signed(header("RS256", "r1"), CLAIMS, r1, "SHA1withRSA"), Fault.SIGNATURE);
        hostile.put(signed(header("PS256", "r1"), CLAIMS, r1, RS), Fault.ALGORITHM);
        hostile.put(signed(header("ES512", "e1"), CLAIMS, e1, ES), Fault.ALGORITHM);
        hostile.put(signed(header("ES256", "e1"), CLAIMS, e1, "SHA256withECDSA"), Fault.SIGNATURE); // DER
        hostile.put(signed(header("none", "r1"), CLAIMS, r1, RS), Fault.ALGORITHM);
        // Keys that the token brings along
        String own = ",\"jwk\":" + jwk(mallory, "r1", "") + "}";
        hostile.put(signed("{\"alg\":\"RS256\"" + own, CLAIMS, mallory, RS), Fault.SIGNATURE);
        hostile.put(
                signed(
                        "{\"alg\":\"RS256\",\"jku\":\"https://mallory.invalid/\",\"x5u\":\"https://mallory.invalid/\"}",
                        CLAIMS,
                        mallory,
                        RS),
                Fault.SIGNATURE);
        hostile.put(signed(header("RS256", "../r1"), CLAIMS, r1, RS), Fault.ALGORITHM);
        hostile.put(signed("{\"alg\":\"RS256\",\"kid\":7}", CLAIMS, r1, RS), Fault.ALGORITHM);
        hostile.put(signed("{\"alg\":[\"RS256\"],\"kid\":\"r1\"}", CLAIMS, r1, RS), Fault.ALGORITHM);
        hostile.put(signed("{\"alg\":\"none\",\"alg\":\"RS256\"}", CLAIMS, r1, RS), Fault.MALFORMED);
        // Pieces of other tokens, and signatures that are none
        String input = good.substring(0, good.lastIndexOf('.') + 1);
        hostile.put(input, Fault.SIGNATURE);
        hostile.put(good.substring(0, good.length() - 4), Fault.SIGNATURE);
        hostile.put(good + "AAAA", Fault.SIGNATURE);
        hostile.put(good + "!", Fault.MALFORMED);
        hostile.put(good + ".", Fault.MALFORMED);
        hostile.put(" " + good, Fault.MALFORMED);
        hostile.put(input + encode(new byte[256]), Fault.SIGNATURE);
        hostile.put(input + byEc.substring(byEc.lastIndexOf('.') + 1), Fault.SIGNATURE);
        hostile.put(
                good.replace("." + encode(CLAIMS) + ".", "." + encode(CLAIMS.replace("alice", "bob")) + "."),
                Fault.SIGNATURE);
        hostile.forEach((token, fault) ->
                assertThat(tokens.verify(token).fault()).as(token).isEqualTo(fault));
    }

    private static String header(String algorithm, String kid) {
        return "{\"alg\":\"" + algorithm + "\",\"kid\":\"" + kid + "\"}";
    }
}
