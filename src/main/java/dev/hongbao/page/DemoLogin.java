package dev.hongbao.page;

import dev.hongbao.access.Profile;
import dev.hongbao.access.RateLimits;
import dev.hongbao.access.TokenSigner;
import dev.hongbao.access.TokenTrust;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.TokenConfig;
import dev.hongbao.doctor.MachineChecks;
import dev.hongbao.draw.DrawService;
import dev.hongbao.http.Route;
import dev.hongbao.ledger.Origin;
import dev.hongbao.ledger.Wallets;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a visitor of a default start sign in as one of the demo users: a plain user, in the demo group only. Their ids begin with
 * {@code demo-}, which no real user has. Thread-safe.
 */
public final class DemoLogin {
    /** The only group of the tokens given here. */
    public static final GroupId GROUP = new GroupId("demo");

    /** The users that a visitor can sign in as. */
    public static final List<UserId> MEMBERS = List.of(
                    "demo-mei",
                    "demo-lei",
                    "demo-fang",
                    "demo-jun",
                    "demo-anna",
                    "demo-ben",
                    "demo-grandma",
                    "demo-uncle")
            .stream()
            .map(UserId::new)
            .toList();

    /** Names in their tokens; the page translates them. */
    private static final Map<UserId, String> NAMES = Map.of(
            new UserId("demo-mei"), "小梅",
            new UserId("demo-lei"), "阿磊",
            new UserId("demo-fang"), "芳芳",
            new UserId("demo-jun"), "俊哥",
            new UserId("demo-anna"), "Anna",
            new UserId("demo-ben"), "Ben",
            new UserId("demo-grandma"), "奶奶",
            new UserId("demo-uncle"), "二叔");

    /** The asset of a demo user's start money. */
    public static final Asset ASSET = new Asset("CNY");

    /** 1,000 yuan in fen: enough for an evening, too little to be bored. */
    public static final long START_AMOUNT = 100_000;

    /** Fifty plays of the wheel. */
    public static final long START_POINTS = 500;

    /** A stolen or forgotten token soon expires; the page renews its own. */
    private static final Duration TOKEN_LIFE = Duration.ofHours(1);

    /** A constant key: a user gets the money once, and again only after the key expires in a day or more. */
    private static final IdempotencyKey START_KEY = new IdempotencyKey("demo-start");

    private static final IdempotencyKey POINTS_KEY = new IdempotencyKey("demo-points");

    private static final Logger LOG = LoggerFactory.getLogger(DemoLogin.class);

    private final @Nullable TokenSigner signer;
    private final @Nullable Text whyOff;
    private final Clock clock;

    /** Null when it could not be made. */
    private final Promise<@Nullable DrawId> wheel = Promise.promise();

    private DemoLogin(@Nullable TokenSigner signer, @Nullable Text whyOff, Clock clock) {
        this.signer = signer;
        this.whyOff = whyOff;
        this.clock = clock;
    }

    /** A login that signs tokens. */
    public static DemoLogin open(TokenSigner signer, Clock clock) {
        return new DemoLogin(signer, null, clock);
    }

    /** Open unless {@link #whyOff} has a reason. Blocks on the disk. */
    public static DemoLogin of(HongbaoConfig config, Clock clock) throws IOException {
        Text why = whyOff(config);
        if (why != null) {
            return new DemoLogin(null, why, clock);
        }
        TokenConfig token = config.web().token();
        byte[] secret = TokenTrust.secret(token, config.engine().data());
        return open(
                new TokenSigner(secret, token.claims().issuer(), token.claims().audience(), clock), clock);
    }

    /** A sentence for the visitor; null for a server on loopback with its own stores and its own token key. */
    static @Nullable Text whyOff(HongbaoConfig config) {
        TokenConfig token = config.web().token();
        if (!config.engine().redis().isEmbedded() || !config.engine().postgres().isEmbedded()) {
            return Text.of("demo.off-stores");
        }
        if (!token.algorithm().isSymmetric() || token.secrets().file() != null) {
            return Text.of("demo.off-tokens");
        }
        return MachineChecks.isLoopback(config.web().http().address().host()) ? null : Text.of("demo.off-address");
    }

    /** A visitor's session. @param wheel the draw to play; null for none */
    public record Session(
            UserId user,
            String token,
            Instant expiresAt,
            @Nullable DrawId wheel) {}

    /**
     * Makes the draw of the wheel, or finds it again. Once, on the service's event loop. Visitors who enter before it is ready wait for it; if
     * it fails, the page has no wheel, and the log says so.
     */
    public Future<DrawId> makeWheel(Future<DrawService> draws, Wallets wallets, Instant now) {
        return draws.compose(opened -> DemoWheel.ready(opened, wallets, now)).onComplete(made -> {
            if (made.failed()) {
                LOG.warn("the demo is without its wheel: {}", made.cause().toString());
            }
            wheel.complete(made.result());
        });
    }

    /** The routes of the demo's calls, by {@code operationId}. @param answerMillis the longest wait for an answer */
    public Map<String, Route> routes(Wallets wallets, RateLimits limits, long answerMillis) {
        DemoRoutes visitors = new DemoRoutes(this, wallets, limits, answerMillis);
        return Map.of("getDemo", visitors::about, "loginToDemo", visitors::enter);
    }

    /** Whether {@link #enter} works. */
    public boolean isOpen() {
        return signer != null;
    }

    /** Why it is off, as a sentence; only when it is. */
    public Text whyOff() {
        return Objects.requireNonNull(whyOff);
    }

    /**
     * Gives the member its start money and points, once, and a token. Idempotent except for the token.
     *
     * @param member one of {@link #MEMBERS}
     * @throws IllegalStateException if the login is off, or the user is not a member
     */
    public Future<Session> enter(UserId member, Wallets wallets) {
        TokenSigner open = signer;
        if (open == null || !MEMBERS.contains(member)) {
            throw new IllegalStateException("no demo login for " + member.value());
        }
        return wallets.deposit(Origin.server(member), member, ASSET, START_AMOUNT, START_KEY)
                .compose(money ->
                        wallets.deposit(Origin.server(member), member, DemoWheel.POINTS, START_POINTS, POINTS_KEY))
                .compose(points -> wheel.future())
                .map(offered -> {
                    Instant expiresAt =
                            clock.instant().truncatedTo(ChronoUnit.SECONDS).plus(TOKEN_LIFE);
                    String token = open.sign(
                            member, List.of(GROUP), Role.USER, TOKEN_LIFE, new Profile(NAMES.get(member), null));
                    return new Session(member, token, expiresAt, offered);
                });
    }
}
