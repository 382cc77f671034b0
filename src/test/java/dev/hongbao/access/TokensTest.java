package dev.hongbao.access;

import static dev.hongbao.access.TestKeys.ec;
import static dev.hongbao.access.TestKeys.encode;
import static dev.hongbao.access.TestKeys.hmac;
import static dev.hongbao.access.TestKeys.jwk;
import static dev.hongbao.access.TestKeys.pem;
import static dev.hongbao.access.TestKeys.rsa;
import static dev.hongbao.access.TestKeys.set;
import static dev.hongbao.access.TestKeys.signed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.access.Tokens.TokenVerdict.Fault;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

    private final MovableClock clock = new MovableClock(NOW);
    private final Tokens tokens = new Tokens(TestKeys.settingsOf(SECRET), clock);

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

    @Test
    void shortTextsOfATokenAreTheUsersTraits() {
        // Given a token with more than is read
        StringBuilder claims =
                new StringBuilder("{\"sub\":\"alice\",\"iss\":\"shop\",\"tier\":\"gold\",\"level\":7,\"luck\":\""
                        + "🧧".repeat(Caller.MAX_TRAIT_LENGTH) + "\",\"bio\":\""
                        + "x".repeat(Caller.MAX_TRAIT_LENGTH + 1) + "\"," + EXP);
        for (int i = 0; i < 100; i++) {
            claims.append(",\"t").append(i).append("\":\"v\"");
        }

        // When
        Caller caller = tokens.verify(hmac(HS256, claims + "}", SECRET)).caller();

        // Then
        assertThat(caller.traits()).hasSize(Caller.MAX_TRAITS).containsKeys("tier", "luck");
        assertThat(caller.traits()).doesNotContainKeys("sub", "iss", "exp", "level", "bio");
    }

    @Test
    void whatATokenCallsItsUserIsToldOnceAndOnlyWhatMayBeShown() {
        // Given
        List<String> told = new ArrayList<>();
        tokens.tellNames((user, said) -> told.add(user + " " + said.displayName() + " " + said.avatar()));
        String named = hmac(
                HS256,
                "{\"sub\":\"ming\",\"name\":\"小明\",\"picture\":\"https://a.example/m.png\"," + EXP + "}",
                SECRET);
        String hostile = hmac(
                HS256,
                "{\"sub\":\"eve\",\"name\":\"\\u202Egnp.exe\",\"picture\":\"javascript:x\"," + EXP + "}",
                SECRET);
        String forged = hmac(HS256, "{\"sub\":\"ming\",\"name\":\"Eve\"," + EXP + "}", new byte[32]);

        // When
        for (int i = 0; i < 3; i++) {
            assertThat(tokens.verify(named).caller()).isNotNull();
            assertThat(tokens.verify(hostile).caller()).isNotNull();
            assertThat(tokens.verify(forged).caller()).isNull();
        }

        // Then
        assertThat(told).containsExactly("ming 小明 https://a.example/m.png", "eve null null");
    }

    @Test
    void aRevokedTokenNamesNobody() {
        // Given
        List<String> told = new ArrayList<>();
        tokens.tellNames((user, said) -> told.add(user + " " + said.displayName()));
        tokens.refuse(caller -> caller.user().equals(new UserId("eve")));
        String revoked = hmac(HS256, "{\"sub\":\"eve\",\"name\":\"小明\"," + EXP + "}", SECRET);

        // When, Then
        assertThat(tokens.verify(revoked).fault()).isEqualTo(Fault.REVOKED);
        assertThat(told).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"HS384", "HS512", "RS256", "ES256", "hs256"})
    void anAlgorithmThatIsNotConfiguredIsRefused(String algorithm) {
        String token = hmac("{\"alg\":\"" + algorithm + "\"}", "{\"sub\":\"alice\"," + EXP + "}", SECRET);

        assertThat(tokens.verify(token).fault()).isEqualTo(Fault.ALGORITHM);
    }

    @Test
    void rs256AndEs256AreVerifiedWithPemAndJwks() throws Exception {
        KeyPair rsa = rsa(2048);
        KeyPair ec = ec("secp256r1");
        String claims = "{\"sub\":\"alice\"," + EXP + "}";
        String byRsa = signed("{\"alg\":\"RS256\",\"kid\":\"r\"}", claims, rsa, "SHA256withRSA");
        String byEc = signed("{\"alg\":\"ES256\",\"kid\":\"e\"}", claims, ec, "SHA256withECDSAinP1363Format");

        String jwks = set("{\"kty\":\"oct\",\"k\":\"AAAA\"}", jwk(rsa, "r", ",\"alg\":\"RS256\""), jwk(ec, "e", ""));
        Tokens pems = tokens(VerificationKey.pem(pem(rsa)), VerificationKey.pem(pem(ec)));
        Tokens set = tokens(VerificationKey.ofSet(jwks).toArray(VerificationKey[]::new));
        for (Tokens trusting : List.of(pems, set)) {
            assertThat(trusting.verify(byRsa).fault()).isNull();
            assertThat(trusting.verify(byEc).fault()).isNull();
        }
        assertThat(tokens(VerificationKey.pem(pem(rsa(2048, 2)))).verify(byRsa).fault())
                .isEqualTo(Fault.SIGNATURE);
        assertThat(set.verify(signed("{\"alg\":\"RS256\",\"kid\":\"x\"}", claims, rsa, "SHA256withRSA"))
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
        assertThatThrownBy(() -> VerificationKey.hs256(pem(rsa(2048)).getBytes(StandardCharsets.US_ASCII)))
                .hasMessageContaining("PEM");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'sub':'alice'} | NO_EXPIRY",
                "{'sub':'alice','exp':'soon'} | EXPIRY",
                "{'sub':'alice','exp':null} | NO_EXPIRY",
                "{'sub':'alice','exp':1e300} | EXPIRY",
                "{'sub':'alice','exp':1771286460000} | EXPIRY",
                "{'sub':'alice','exp':99999999999999999999} | EXPIRY",
                "{'sub':'alice','exp':1771286400} | EXPIRED",
                "{'sub':'alice',EXP,'nbf':1771286401} | NOT_YET",
                "{'sub':'alice',EXP,'nbf':'x'} | NOT_BEFORE",
                "{EXP} | SUBJECT",
                "{'sub':7,EXP} | SUBJECT",
                "{'sub':'',EXP} | SUBJECT",
                "{'sub':'a b',EXP} | SUBJECT",
                "{'sub':'a\\n',EXP} | SUBJECT",
                "{'sub':'a\\ud83e',EXP} | SUBJECT",
                "{'sub':'a\\u0000',EXP} | SUBJECT",
                "{'sub':'..',EXP} | SUBJECT",
                "{'sub':'alice',EXP,'groups':'family'} | GROUPS",
                "{'sub':'alice',EXP,'groups':[1]} | GROUP",
                "{'sub':'alice',EXP,'groups':['ok','not ok']} | GROUP",
                "{'sub':'alice',EXP,'role':'admin'} | ROLE",
                "{'sub':'alice',EXP,'role':7} | ROLE",
                "{'sub':'alice','sub':'bob',EXP} | CLAIMS",
                "[] | CLAIMS",
            })
    void claimsThatDoNotHoldAreRefused(String claims, Fault fault) {
        String json = claims.replace("EXP", EXP).replace('\'', '"');

        assertThat(tokens.verify(hmac(HS256, json, SECRET)).fault()).isEqualTo(fault);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'nbf':null",
                "'iat':null",
                "'iat':'yesterday'",
                "'groups':null",
                "'role':null",
                "'name':null",
                "'name':'cut \\ud83e'",
                "'name':'\\u0000'",
                "'nickname\\ud83e':'x'",
                "'iss':7,'aud':{'a':[null]}",
                "'phone':12345678901234567890123",
                "'jti':1.5",
            })
    void aClaimThatDoesNotMatterMayBeAnything(String claim) {
        String json = "{\"sub\":\"alice\"," + EXP + "," + claim.replace('\'', '"') + "}";

        assertThat(tokens.verify(hmac(HS256, json, SECRET)).caller().user()).isEqualTo(new UserId("alice"));
    }

    @Test
    void bytesThatAreNoTextMatterNoMore() {
        byte[] claims =
                ("{\"sub\":\"alice\"," + EXP + ",\"name\":\"cut \u00f0\u009f\"}").getBytes(StandardCharsets.ISO_8859_1);

        assertThat(tokens.verify(hmac(HS256, claims, SECRET)).caller().user()).isEqualTo(new UserId("alice"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "`not ok` | \"not ok\"",
                "`\\ud83e\\udde7\\u202e` | \"\uD83E\uDDE7?\"",
                "1 | 1",
                "null | null",
                "[`x`] | […]",
            })
    void aGroupThatIsNoneIsNamed(String group, String named) {
        String json = "{\"sub\":\"alice\"," + EXP + ",\"groups\":[\"-1001\"," + group.replace('`', '"') + "]}";

        assertThat(tokens.verify(hmac(HS256, json, SECRET)).sentence().toString())
                .startsWith("the token's group " + named + " is not");
    }

    @Test
    void groupsOfChatAppsAreGroups() {
        String json =
                "{\"sub\":\"@bob:example.org\"," + EXP + ",\"groups\":[\"-1001\",\"!room:example.org\",\"/family\"]}";

        assertThat(tokens.verify(hmac(HS256, json, SECRET)).caller().groups())
                .containsExactlyInAnyOrder(
                        new GroupId("-1001"), new GroupId("!room:example.org"), new GroupId("/family"));
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

        assertThat(tokens.verify(token).fault()).isEqualTo(Fault.CRITICAL);
    }

    @Test
    void issuerAndAudienceAreCheckedWhenConfigured() {
        Tokens strict = new Tokens(
                new Tokens.Settings(
                        List.of(VerificationKey.hs256(SECRET)), "shop", "hongbao", TestKeys.LONGEST_LIFE, 10_000),
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
    void aTokenThatLivesTooLongIsRefused() {
        Tokens strict = new Tokens(
                new Tokens.Settings(List.of(VerificationKey.hs256(SECRET)), null, null, Duration.ofSeconds(60), 10_000),
                clock);
        String longer =
                hmac("{\"alg\":\"HS256\"}", "{\"sub\":\"a\",\"exp\":" + (NOW.getEpochSecond() + 61) + "}", SECRET);

        assertThat(strict.verify(claimed("\"jti\":1")).fault()).isNull();
        assertThat(strict.verify(longer).fault()).isEqualTo(Fault.LIFE);
        clock.now = NOW.plusSeconds(1);
        assertThat(strict.verify(longer).fault()).isNull();
    }

    @Test
    void whatIsRememberedIsBoundedByItsSizeAndAGroupIsHeldOnce() {
        // Given a memory of 100 kB, and members of many groups
        Tokens small = new Tokens(
                new Tokens.Settings(List.of(VerificationKey.hs256(SECRET)), null, null, TestKeys.LONGEST_LIFE, 100_000),
                clock);
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

        byte[] key = TokenTrust.loadOrCreate(file);

        assertThat(key).hasSize(32).isEqualTo(TokenTrust.loadOrCreate(file));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(Files.list(file.getParent())).containsExactly(file);
        assertThat(key).isNotEqualTo(TokenTrust.loadOrCreate(directory.resolve("other/token.key")));

        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> TokenTrust.loadOrCreate(file)).hasMessageContaining("chmod 600");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Files.write(file, Arrays.copyOf(key, 31));
        assertThatThrownBy(() -> TokenTrust.loadOrCreate(file)).hasMessageContaining("32 bytes");
    }

    private String claimed(String more) {
        return hmac(HS256, "{\"sub\":\"alice\"," + EXP + "," + more + "}", SECRET);
    }

    private Tokens tokens(VerificationKey... keys) {
        return TestKeys.tokens(clock, keys);
    }
}
