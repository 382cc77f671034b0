package dev.hongbao.web.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.web.access.TokenVerdict.Fault;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TokensTest {
    private static final byte[] SECRET = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final Instant NOW = Instant.parse("2026-02-17T00:00:00Z");
    private static final String EXP = "\"exp\":" + (NOW.getEpochSecond() + 60);
    private static final String HS256 = "{\"alg\":\"HS256\"}";

    private final MovableClock clock = new MovableClock();
    private final Tokens tokens = new Tokens(TokenSettings.ofSecret(SECRET), clock);

    @Test
    void aSignedTokenIsBelievedUntilItEndsAlsoFromTheCache() {
        String token = new TokenSigner(SECRET, null, null, clock)
                .sign(new UserId("alice"), List.of(new GroupId("family")), Role.SERVICE, Duration.ofSeconds(60));

        assertThat(tokens.verify(token).caller()).satisfies(caller -> {
            assertThat(caller.user()).isEqualTo(new UserId("alice"));
            assertThat(caller.isMemberOf(new GroupId("family"))).isTrue();
            assertThat(caller.role()).isEqualTo(Role.SERVICE);
            assertThat(caller.expiresAt()).isEqualTo(NOW.plusSeconds(60));
        });
        clock.now = NOW.plusSeconds(59);
        assertThat(tokens.verify(token).fault()).isNull();
        clock.now = NOW.plusSeconds(60);
        assertThat(tokens.verify(token).fault()).isEqualTo(Fault.EXPIRED);
        assertThat(tokens.verify(token).fault()).isEqualTo(Fault.EXPIRED);
    }

    @Test
    void anUnsignedTokenIsRefused() {
        String claims = encode("{\"sub\":\"alice\"," + EXP + "}");
        for (String alg : List.of("none", "None", "NONE", "")) {
            String header = encode("{\"alg\":\"" + alg + "\"}");
            assertThat(tokens.verify(header + "." + claims + ".").fault()).isEqualTo(Fault.ALGORITHM);
        }
        assertThat(tokens.verify(encode("{}") + "." + claims + ".").fault()).isEqualTo(Fault.ALGORITHM);
        assertThat(tokens.verify(encode(HS256) + "." + claims + ".").fault()).isEqualTo(Fault.SIGNATURE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"HS384", "HS512", "RS256", "ES256", "hs256"})
    void anAlgorithmThatIsNotConfiguredIsRefused(String algorithm) {
        String token = hmac("{\"alg\":\"" + algorithm + "\"}", "{\"sub\":\"alice\"," + EXP + "}", SECRET);

        assertThat(tokens.verify(token).fault()).isEqualTo(Fault.ALGORITHM);
    }

    @Test
    void aPublicKeyIsNotTakenAsAnHmacSecret() throws Exception {
        // Given a server that trusts an RSA key, which everyone knows
        KeyPair rsa = rsa(2048);
        Tokens trusting = tokens(VerificationKey.pem(pem(rsa)));

        // When someone signs with that public key's bytes as a secret
        for (byte[] secret : List.of(rsa.getPublic().getEncoded(), pem(rsa).getBytes(StandardCharsets.US_ASCII))) {
            String forged = hmac(HS256, "{\"sub\":\"alice\"," + EXP + "}", secret);

            // Then it is refused, since the key has its own algorithm
            assertThat(trusting.verify(forged).fault()).isEqualTo(Fault.ALGORITHM);
        }
        assertThatThrownBy(() -> VerificationKey.hs256(pem(rsa).getBytes(StandardCharsets.US_ASCII)))
                .hasMessageContaining("PEM");
    }

    @Test
    void rs256AndEs256AreVerifiedWithPemAndJwks() throws Exception {
        KeyPair rsa = rsa(2048);
        KeyPair ec = ec("secp256r1");
        String claims = "{\"sub\":\"alice\"," + EXP + "}";
        String byRsa = signed("{\"alg\":\"RS256\",\"kid\":\"r\"}", claims, rsa, "SHA256withRSA");
        String byEc = signed("{\"alg\":\"ES256\",\"kid\":\"e\"}", claims, ec, "SHA256withECDSAinP1363Format");

        Tokens pems = tokens(VerificationKey.pem(pem(rsa)), VerificationKey.pem(pem(ec)));
        Tokens jwks = tokens(VerificationKey.jwks(jwks(rsa, ec)).toArray(VerificationKey[]::new));
        for (Tokens trusting : List.of(pems, jwks)) {
            assertThat(trusting.verify(byRsa).fault()).isNull();
            assertThat(trusting.verify(byEc).fault()).isNull();
        }
        assertThat(tokens(VerificationKey.pem(pem(rsa(2048)))).verify(byRsa).fault())
                .isEqualTo(Fault.SIGNATURE);
        assertThat(jwks.verify(signed("{\"alg\":\"RS256\",\"kid\":\"x\"}", claims, rsa, "SHA256withRSA"))
                        .fault())
                .isEqualTo(Fault.ALGORITHM);
        // r = s = 0 signs anything on an old JDK
        String zero = byEc.substring(0, byEc.lastIndexOf('.') + 1)
                + Base64.getUrlEncoder().withoutPadding().encodeToString(new byte[64]);
        assertThat(pems.verify(zero).fault()).isEqualTo(Fault.SIGNATURE);
    }

    @Test
    void weakKeysAreRefusedAtTheStart() throws Exception {
        String weakRsa = pem(rsa(1024));
        String otherCurve = pem(ec("secp384r1"));

        assertThatThrownBy(() -> VerificationKey.pem(weakRsa)).hasMessageContaining("2048");
        assertThatThrownBy(() -> VerificationKey.pem(otherCurve)).hasMessageContaining("P-256");
        assertThatThrownBy(() -> VerificationKey.hs256(new byte[31])).hasMessageContaining("32 bytes");
        assertThatThrownBy(() -> VerificationKey.jwks("{\"keys\":[]}")).hasMessageContaining("no key");
        assertThatThrownBy(() -> VerificationKey.jwks("{")).hasMessageContaining("not a JWK set");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'sub':'alice'} | NO_EXPIRY",
                "{'sub':'alice','exp':'soon'} | NO_EXPIRY",
                "{'sub':'alice','exp':null} | NO_EXPIRY",
                "{'sub':'alice','exp':1e300} | NO_EXPIRY",
                "{'sub':'alice','exp':1771286400} | EXPIRED",
                "{'sub':'alice',EXP,'nbf':1771286401} | NOT_YET",
                "{'sub':'alice',EXP,'nbf':'x'} | NOT_YET",
                "{EXP} | SUBJECT",
                "{'sub':7,EXP} | SUBJECT",
                "{'sub':'',EXP} | SUBJECT",
                "{'sub':'a b',EXP} | SUBJECT",
                "{'sub':'a\\n',EXP} | SUBJECT",
                "{'sub':'#',EXP} | SUBJECT",
                "{'sub':'alice',EXP,'groups':'family'} | GROUPS",
                "{'sub':'alice',EXP,'groups':[1]} | GROUPS",
                "{'sub':'alice',EXP,'groups':null} | GROUPS",
                "{'sub':'alice',EXP,'groups':['ok','not ok']} | GROUPS",
                "{'sub':'alice',EXP,'role':'admin'} | ROLE",
                "{'sub':'alice',EXP,'role':null} | ROLE",
                "{'sub':'alice','sub':'bob',EXP} | MALFORMED",
                "[] | MALFORMED",
            })
    void claimsThatDoNotHoldAreRefused(String claims, Fault fault) {
        String json = claims.replace("EXP", EXP).replace('\'', '"');

        assertThat(tokens.verify(hmac(HS256, json, SECRET)).fault()).isEqualTo(fault);
    }

    @Test
    void noMoreThanAThousandGroupsAndEightKilobytesAreRead() {
        String many = IntStream.range(0, 1001).mapToObj(i -> "\"g\"").collect(Collectors.joining(","));

        assertThat(tokens.verify(hmac(HS256, "{\"sub\":\"alice\"," + EXP + ",\"groups\":[" + many + "]}", SECRET))
                        .fault())
                .isEqualTo(Fault.GROUPS);
        assertThat(tokens.verify("x".repeat(8193)).fault()).isEqualTo(Fault.TOO_LONG);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "a.b", "a.b.c", "a.b.c.d", "e30.e30", "é.é.é"})
    void whatIsNoJwtIsRefused(String text) {
        assertThat(tokens.verify(text).fault()).isEqualTo(Fault.MALFORMED);
    }

    @Test
    void aCriticalExtensionIsNotPassedOver() {
        String token =
                hmac("{\"alg\":\"HS256\",\"crit\":[\"b64\"],\"b64\":false}", "{\"sub\":\"a\"," + EXP + "}", SECRET);

        assertThat(tokens.verify(token).fault()).isEqualTo(Fault.ALGORITHM);
    }

    @Test
    void issuerAndAudienceAreCheckedWhenConfigured() {
        Tokens strict = new Tokens(
                new TokenSettings(List.of(VerificationKey.hs256(SECRET)), "shop", "hongbao", Duration.ZERO, 10_000),
                clock);

        assertThat(strict.verify(claimed("\"iss\":\"shop\",\"aud\":\"hongbao\""))
                        .fault())
                .isNull();
        assertThat(strict.verify(claimed("\"iss\":\"shop\",\"aud\":[\"x\",\"hongbao\"]"))
                        .fault())
                .isNull();
        assertThat(strict.verify(claimed("\"iss\":\"evil\",\"aud\":\"hongbao\""))
                        .fault())
                .isEqualTo(Fault.ISSUER);
        assertThat(strict.verify(claimed("\"aud\":\"hongbao\"")).fault()).isEqualTo(Fault.ISSUER);
        assertThat(strict.verify(claimed("\"iss\":\"shop\",\"aud\":\"other\"")).fault())
                .isEqualTo(Fault.AUDIENCE);
        assertThat(strict.verify(claimed("\"iss\":\"shop\"")).fault()).isEqualTo(Fault.AUDIENCE);
    }

    @Test
    void leewayMovesBothEnds() {
        Tokens lenient = new Tokens(
                new TokenSettings(List.of(VerificationKey.hs256(SECRET)), null, null, Duration.ofSeconds(5), 10_000),
                clock);
        String token = claimed("\"nbf\":" + (NOW.getEpochSecond() + 5));

        assertThat(lenient.verify(token).fault()).isNull();
        clock.now = NOW.plusSeconds(64);
        assertThat(lenient.verify(token).fault()).isNull();
        clock.now = NOW.plusSeconds(65);
        assertThat(lenient.verify(token).fault()).isEqualTo(Fault.EXPIRED);
    }

    @Test
    void whatIsRememberedIsBoundedByItsSizeAndAGroupIsHeldOnce() {
        // Given a memory of 100 kB, and members of many groups
        Tokens small = new Tokens(
                new TokenSettings(List.of(VerificationKey.hs256(SECRET)), null, null, Duration.ZERO, 100_000), clock);
        String groups =
                IntStream.range(0, 100).mapToObj(i -> "\"group-" + i + "\"").collect(Collectors.joining(","));

        // When
        List<Caller> callers = IntStream.range(0, 200)
                .mapToObj(i -> small.verify(claimed("\"jti\":" + i + ",\"groups\":[" + groups + "]"))
                        .caller())
                .toList();

        // Then
        assertThat(small.cachedBytes()).isBetween(50_000L, 100_000L);
        Set<GroupId> different = Collections.newSetFromMap(new IdentityHashMap<>());
        callers.forEach(caller -> different.addAll(caller.groups()));
        assertThat(different).hasSize(100);
    }

    @Test
    void theKeyFileIsMadeOnceAndOnlyItsOwnerMayReadIt(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("data/token.key");

        byte[] key = TokenKey.loadOrCreate(file);

        assertThat(key).hasSize(32).isEqualTo(TokenKey.loadOrCreate(file));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(Files.list(file.getParent())).containsExactly(file);
        assertThat(key).isNotEqualTo(TokenKey.loadOrCreate(directory.resolve("other/token.key")));

        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> TokenKey.loadOrCreate(file)).hasMessageContaining("chmod 600");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Files.write(file, Arrays.copyOf(key, 31));
        assertThatThrownBy(() -> TokenKey.loadOrCreate(file)).hasMessageContaining("32 bytes");
    }

    private String claimed(String more) {
        return hmac(HS256, "{\"sub\":\"alice\"," + EXP + "," + more + "}", SECRET);
    }

    private Tokens tokens(VerificationKey... keys) {
        return new Tokens(new TokenSettings(List.of(keys), null, null, Duration.ZERO, 10_000), clock);
    }

    private static String hmac(String header, String claims, byte[] secret) {
        try {
            String input = encode(header) + "." + encode(claims);
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            return input + "." + encode(mac.doFinal(input.getBytes(StandardCharsets.US_ASCII)));
        } catch (Exception broken) {
            throw new AssertionError(broken);
        }
    }

    private static String signed(String header, String claims, KeyPair keys, String algorithm) throws Exception {
        String input = encode(header) + "." + encode(claims);
        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(keys.getPrivate());
        signature.update(input.getBytes(StandardCharsets.US_ASCII));
        return input + "." + encode(signature.sign());
    }

    private static KeyPair rsa(int bits) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(bits);
        return generator.generateKeyPair();
    }

    private static KeyPair ec(String curve) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve));
        return generator.generateKeyPair();
    }

    private static String pem(KeyPair keys) {
        return "-----BEGIN PUBLIC KEY-----\n"
                + Base64.getMimeEncoder().encodeToString(keys.getPublic().getEncoded())
                + "\n-----END PUBLIC KEY-----\n";
    }

    private static String jwks(KeyPair rsa, KeyPair ec) {
        RSAPublicKey r = (RSAPublicKey) rsa.getPublic();
        ECPublicKey e = (ECPublicKey) ec.getPublic();
        return "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"},{\"kty\":\"RSA\",\"kid\":\"r\",\"alg\":\"RS256\",\"n\":\""
                + encode(r.getModulus().toByteArray()) + "\",\"e\":\""
                + encode(r.getPublicExponent().toByteArray())
                + "\"},{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"e\",\"x\":\""
                + encode(e.getW().getAffineX().toByteArray()) + "\",\"y\":\""
                + encode(e.getW().getAffineY().toByteArray()) + "\"}]}";
    }

    private static String encode(String text) {
        return encode(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static final class MovableClock extends Clock {
        private Instant now = NOW;

        @Override
        public ZoneOffset getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(java.time.ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now;
        }
    }
}
