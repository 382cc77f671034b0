package dev.hongbao.access;

import dev.hongbao.access.Tokens.TokenVerdict;
import dev.hongbao.access.Tokens.TokenVerdict.Fault;
import dev.hongbao.fuzz.Findings;
import dev.hongbao.fuzz.Hostile;
import dev.hongbao.fuzz.Input;
import dev.hongbao.fuzz.Kind;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.time.Clock;
import java.time.Instant;
import java.util.List;

/** Tokens: good ones, forged, cut, by other algorithms, huge. Only what one of the keys has signed is believed, and only as it says. */
public final class TokensFuzz implements Kind {
    /** Of a core, for one token. Not of a clock: the machine may stand still for a while. */
    private static final long LIMIT_NANOS = 2_000_000_000L;

    private final Hostile hostile;
    private final byte[] secret = TestKeys.secret("one");
    private final KeyPair rsa;
    private final KeyPair ec;
    private final KeyPair foreign;
    private final Tokens tokens;

    /** @param hostile what claims may say */
    public TokensFuzz(Hostile hostile) throws Exception {
        this.hostile = hostile;
        this.rsa = TestKeys.rsa(2048);
        this.foreign = TestKeys.rsa(2048, 2);
        this.ec = TestKeys.ec("secp256r1");
        this.tokens = TestKeys.tokens(
                Clock.systemUTC(),
                VerificationKey.hs256(secret),
                VerificationKey.rs256((RSAPublicKey) rsa.getPublic(), "r"),
                VerificationKey.es256((ECPublicKey) ec.getPublic(), "e"));
    }

    @Override
    public String name() {
        return "tokens";
    }

    @Override
    public int share() {
        return 12;
    }

    @Override
    public int batch() {
        return 50;
    }

    /** A token and whether one of the keys has signed its claims. */
    private record Made(String text, JsonObject claims, boolean signed) {}

    @Override
    public void send(List<Input> inputs, Findings findings) throws Exception {
        for (Input input : inputs) {
            Made made = make(input);
            long begun = cpuNanos();
            TokenVerdict verdict = tokens.verify(made.text);
            long took = cpuNanos() - begun;
            Fault fault = verdict.fault();
            findings.count(input, fault == null ? "believed" : fault.name());
            String wrong = wrong(made, verdict);
            if (wrong != null || took > LIMIT_NANOS) {
                findings.found(
                        input,
                        wrong != null ? wrong : "it took " + took / 1_000_000 + " ms of a core",
                        made.text + " of " + made.claims);
            }
        }
    }

    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static String wrong(Made made, TokenVerdict verdict) {
        Caller caller = verdict.caller();
        if ((caller == null) == (verdict.fault() == null)) {
            return "neither believed nor refused";
        }
        if (caller == null) {
            return null;
        }
        if (!made.signed) {
            return "a forged token is believed";
        }
        boolean isAsSigned = caller.user().value().equals(made.claims.getValue("sub"))
                && (caller.role() == Role.SERVICE) == "service".equals(made.claims.getValue("role"))
                && caller.expiresAt().isAfter(Instant.now().minusSeconds(60))
                && (caller.groups().isEmpty() || made.claims.getValue("groups") instanceof JsonArray);
        return isAsSigned ? null : "believed otherwise than it is signed: " + caller;
    }

    private Made make(Input input) throws Exception {
        long now = Instant.now().getEpochSecond();
        JsonObject claims = new JsonObject()
                .put("sub", "alice")
                .put("iat", now)
                .put("exp", now + 3_600)
                .put("groups", new JsonArray().add("family"));
        if (input.oneIn(3)) {
            claims.put("role", input.pick("user", "service"))
                    .put("name", "小明")
                    .put("nbf", now - 5)
                    .put("jti", "1");
        }
        String text = new String(hostile.spoilt(input, claims, input.pick(0, 0, 1, 1, 2, 4)), StandardCharsets.UTF_8);
        if (input.oneIn(60)) {
            text = "{\"x\":\"" + "y".repeat(input.pick(5_900, 6_200, 9_000, 300_000)) + "\","
                    + text.substring(Math.min(1, text.length()));
        }
        String kid = input.oneIn(4) ? ",\"kid\":\"" + input.pick("r", "e", "x", "../r") + "\"" : "";
        Made made = signed(input, said(text, claims), text, kid);
        return input.oneIn(2) ? made : cut(input, made);
    }

    /** The claims of a text, spoilt or not. @param meant the claims of a text that nobody can read */
    private static JsonObject said(String text, JsonObject meant) {
        try {
            return new JsonObject(text);
        } catch (DecodeException | ClassCastException unreadable) {
            return meant;
        }
    }

    private Made signed(Input input, JsonObject claims, String text, String kid) throws Exception {
        return switch (input.random().nextInt(12)) {
            case 0 ->
                new Made(TestKeys.signed("{\"alg\":\"RS256\"" + kid + "}", text, rsa, "SHA256withRSA"), claims, true);
            case 1 ->
                new Made(
                        TestKeys.signed("{\"alg\":\"ES256\"" + kid + "}", text, ec, "SHA256withECDSAinP1363Format"),
                        claims,
                        true);
            case 2 ->
                new Made(
                        TestKeys.signed("{\"alg\":\"RS256\"" + kid + "}", text, foreign, "SHA256withRSA"),
                        claims,
                        false);
            case 3 ->
                new Made(
                        TestKeys.hmac(
                                "{\"alg\":\"HS256\"}", text, TestKeys.pem(rsa).getBytes(StandardCharsets.US_ASCII)),
                        claims,
                        false);
            case 4 ->
                new Made(
                        TestKeys.hmac(
                                "{\"alg\":\"HS256\"}", text, rsa.getPublic().getEncoded()),
                        claims,
                        false);
            case 5 ->
                new Made(
                        TestKeys.encode("{\"alg\":\"" + input.pick("none", "None", "NONE", "", "HS256") + "\"}") + "."
                                + TestKeys.encode(text) + ".",
                        claims,
                        false);
            case 6 -> new Made(TestKeys.hmac(header(input), text, secret), claims, true);
            case 7 -> new Made(TestKeys.signed("{\"alg\":\"ES256\"}", text, ec, "SHA256withECDSA"), claims, true);
            case 8 ->
                new Made(
                        TestKeys.encode("{\"alg\":\"ES256\"}") + "." + TestKeys.encode(text) + "."
                                + TestKeys.encode(new byte[64]),
                        claims,
                        false);
            default ->
                new Made(TestKeys.hmac("{\"alg\":\"HS256\",\"typ\":\"JWT\"" + kid + "}", text, secret), claims, true);
        };
    }

    private static String header(Input input) {
        return input.pick(
                "{\"alg\":\"HS256\",\"crit\":[\"b64\"],\"b64\":false}",
                "{\"alg\":\"HS384\"}",
                "{\"alg\":\"RS256\"}",
                "{\"alg\":\"hs256\"}",
                "{\"alg\":7}",
                "{\"alg\":null}",
                "{\"alg\":\"HS256\",\"kid\":7}",
                "{\"alg\":\"HS256\",\"zip\":\"DEF\"}",
                "{\"alg\":\"HS256\",\"alg\":\"none\"}",
                "{\"alg\":\"HS256\",\"jwk\":{\"kty\":\"oct\",\"k\":\"AA\"},\"x5u\":\"https://127.0.0.1:9/\"}",
                "{}",
                "[]",
                "");
    }

    /** Damages a token on its way. */
    private static Made cut(Input input, Made made) {
        StringBuilder text = new StringBuilder(made.text);
        int at = input.random().nextInt(text.length());
        switch (input.random().nextInt(8)) {
            case 0 -> text.setLength(at);
            case 1 -> text.deleteCharAt(at);
            case 2 -> text.insert(at, input.pick(".", "=", " ", "\n", "\0", "A", "字", "+", "/"));
            case 3 -> text.append(input.pick(".", "=", "==", "A", "A".repeat(9_000), ".e30"));
            case 4 ->
                text.replace(0, text.length(), input.pick("", ".", "..", "...", "x.y.z", "e30.e30.", "e30.e30.e30"));
            case 5 -> text.setCharAt(at, input.pick('A', '_', '-', '+', '\u00e9'));
            case 6 -> text.insert(0, input.pick("Bearer ", "\"", "A"));
            default -> {
                int dot = text.indexOf(".");
                text.replace(
                        dot + 1,
                        text.length(),
                        TestKeys.encode("{\"sub\":\"eve\",\"exp\":4000000000,\"role\":\"service\"}")
                                + text.substring(text.lastIndexOf(".")));
                return new Made(text.toString(), new JsonObject(), false);
            }
        }
        return new Made(text.toString(), made.claims, made.signed);
    }
}
