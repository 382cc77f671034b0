package dev.hongbao.page;

import dev.hongbao.access.Profile;
import dev.hongbao.access.TokenSigner;
import dev.hongbao.ledger.Origin;
import dev.hongbao.ledger.Wallets;
import dev.hongbao.values.Asset;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.Role;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

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

    private final @Nullable TokenSigner signer;
    private final @Nullable Text whyOff;
    private final Clock clock;
    private volatile Future<@Nullable DrawId> wheel = Future.succeededFuture();

    private DemoLogin(@Nullable TokenSigner signer, @Nullable Text whyOff, Clock clock) {
        this.signer = signer;
        this.whyOff = whyOff;
        this.clock = clock;
    }

    /** A login that signs tokens. */
    public static DemoLogin open(TokenSigner signer, Clock clock) {
        return new DemoLogin(signer, null, clock);
    }

    /** A login that is off; {@code why} is a sentence for the visitor. */
    public static DemoLogin off(Text why) {
        return new DemoLogin(null, why, Clock.systemUTC());
    }

    /** A visitor's session. @param wheel the draw to play; null for none */
    public record Session(
            UserId user,
            String token,
            Instant expiresAt,
            @Nullable DrawId wheel) {}

    /** Sets the draw of the wheel. Visitors who enter before it is ready wait for it; if it fails, the page has no wheel. */
    public void offer(Future<DrawId> draw) {
        wheel = draw.<@Nullable DrawId>map(made -> made).otherwiseEmpty();
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
                .compose(points -> wheel)
                .map(offered -> {
                    Instant expiresAt =
                            clock.instant().truncatedTo(ChronoUnit.SECONDS).plus(TOKEN_LIFE);
                    String token = open.sign(
                            member, List.of(GROUP), Role.USER, TOKEN_LIFE, new Profile(NAMES.get(member), null));
                    return new Session(member, token, expiresAt, offered);
                });
    }
}
