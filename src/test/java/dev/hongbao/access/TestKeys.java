package dev.hongbao.access;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.RSAKeyGenParameterSpec;
import java.security.spec.RSAPrivateCrtKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Keys and tokens made without the library that reads them. */
public final class TestKeys {
    /** The most that a configuration allows a token to live. */
    static final Duration LONGEST_LIFE = Duration.ofDays(365);

    /** By the bits of a pair, how far below a power of two its primes are. */
    private static final Map<Integer, List<Integer>> TO_PRIMES =
            Map.of(1024, List.of(569, 629), 2048, List.of(105, 179, 1397, 3177));

    private TestKeys() {}

    /** The key of a data directory, made if it is missing. */
    public static byte[] ofFile(Path file) throws IOException {
        return TokenTrust.loadOrCreate(file);
    }

    /** A secret for HS256 that has {@code name} in it. */
    static byte[] secret(String name) {
        return (name + " of at least 32 bytes, for HS256").getBytes(StandardCharsets.US_ASCII);
    }

    static VerificationKey hs256(String name) {
        return VerificationKey.hs256(secret(name));
    }

    /** Trusts the tokens that are signed with this secret, as a server does without configuration. */
    public static Tokens.Settings settingsOf(byte[] secret) {
        return new Tokens.Settings(
                List.of(VerificationKey.hs256(secret)), null, null, LONGEST_LIFE, Tokens.Settings.DEFAULT_CACHE_BYTES);
    }

    static Tokens tokens(Clock clock, VerificationKey... keys) {
        return new Tokens(new Tokens.Settings(List.of(keys), null, null, LONGEST_LIFE, 100_000), clock);
    }

    /** A token by HS256. */
    static String hmac(String header, String claims, byte[] secret) {
        return hmac(header, claims.getBytes(StandardCharsets.UTF_8), secret);
    }

    /** A token of claims that may be anything. */
    static String hmac(String header, byte[] claims, byte[] secret) {
        try {
            String input = encode(header) + "." + encode(claims);
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            return input + "." + encode(mac.doFinal(input.getBytes(StandardCharsets.US_ASCII)));
        } catch (Exception broken) {
            throw new AssertionError(broken);
        }
    }

    /** @param algorithm as the JDK names it */
    static String signed(String header, String claims, KeyPair keys, String algorithm) throws Exception {
        String input = encode(header) + "." + encode(claims);
        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(keys.getPrivate());
        signature.update(input.getBytes(StandardCharsets.US_ASCII));
        return input + "." + encode(signature.sign());
    }

    /** The first pair of these bits. */
    static KeyPair rsa(int bits) {
        return rsa(bits, 1);
    }

    /** A pair made of known primes, since to look for others takes most of a second. @param number from 1 to 3; another is another pair */
    static KeyPair rsa(int bits, int number) {
        BigInteger p = prime(bits, 0);
        BigInteger q = prime(bits, number);
        BigInteger modulus = p.multiply(q);
        BigInteger lessP = p.subtract(BigInteger.ONE);
        BigInteger lessQ = q.subtract(BigInteger.ONE);
        BigInteger exponent = RSAKeyGenParameterSpec.F4;
        BigInteger secret = exponent.modInverse(lessP.multiply(lessQ));
        try {
            KeyFactory factory = KeyFactory.getInstance("RSA");
            return new KeyPair(
                    factory.generatePublic(new RSAPublicKeySpec(modulus, exponent)),
                    factory.generatePrivate(new RSAPrivateCrtKeySpec(
                            modulus, exponent, secret, p, q, secret.mod(lessP), secret.mod(lessQ), q.modInverse(p))));
        } catch (GeneralSecurityException fault) {
            throw new AssertionError(fault);
        }
    }

    /** Of half the bits. */
    private static BigInteger prime(int bits, int number) {
        return BigInteger.TWO
                .pow(bits / 2)
                .subtract(BigInteger.valueOf(TO_PRIMES.get(bits).get(number)));
    }

    static KeyPair ec(String curve) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve));
        return generator.generateKeyPair();
    }

    static String pem(KeyPair keys) {
        return "-----BEGIN PUBLIC KEY-----\n"
                + Base64.getMimeEncoder().encodeToString(keys.getPublic().getEncoded())
                + "\n-----END PUBLIC KEY-----\n";
    }

    /** A JWK of an RSA or a P-256 key. @param more fields, each with a comma before it */
    static String jwk(KeyPair keys, String kid, String more) {
        if (keys.getPublic() instanceof RSAPublicKey rsa) {
            return "{\"kty\":\"RSA\",\"kid\":\"" + kid + "\",\"n\":\""
                    + encode(rsa.getModulus().toByteArray()) + "\",\"e\":\""
                    + encode(rsa.getPublicExponent().toByteArray()) + "\"" + more + "}";
        }
        ECPublicKey ec = (ECPublicKey) keys.getPublic();
        return "{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"" + kid + "\",\"x\":\""
                + encode(ec.getW().getAffineX().toByteArray()) + "\",\"y\":\""
                + encode(ec.getW().getAffineY().toByteArray()) + "\"" + more + "}";
    }

    static String set(String... jwks) {
        return "{\"keys\":[" + String.join(",", jwks) + "]}";
    }

    static String encode(String text) {
        return encode(text.getBytes(StandardCharsets.UTF_8));
    }

    static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
