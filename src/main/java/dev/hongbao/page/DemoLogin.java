package dev.hongbao.page;

import dev.hongbao.access.Profile;
import dev.hongbao.access.RateLimits;
import dev.hongbao.access.TokenSigner;
import dev.hongbao.access.TokenTrust;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.ListenAddress;
import dev.hongbao.config.WebConfig.TokenConfig;
import dev.hongbao.draw.Draw;
import dev.hongbao.draw.DrawService;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.DrawDefinition.Cost;
import dev.hongbao.draw.odds.DrawDefinition.Limits;
import dev.hongbao.draw.odds.DrawDefinition.WhenExhausted;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.draw.odds.Prize.Award;
import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Problem;
import dev.hongbao.http.ProblemType;
import dev.hongbao.http.Reply;
import dev.hongbao.ledger.Origin;
import dev.hongbao.ledger.Wallets;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Reason;
import dev.hongbao.values.Text;
import dev.hongbao.values.TooManyCallsException;
import dev.hongbao.values.TooManyCallsException.RateDecision;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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
        byte[] secret = TokenTrust.secret(token, config.engine().tokenKeyFile());
        return open(new TokenSigner(secret, token.issuer(), token.audience(), clock), clock);
    }

    /** A sentence for the visitor; null for a server on loopback with its own stores and its own token key. */
    static @Nullable Text whyOff(HongbaoConfig config) {
        TokenConfig token = config.web().token();
        if (!config.engine().redis().isEmbedded() || !config.engine().postgres().isEmbedded()) {
            return Text.of("demo.off-stores");
        }
        if (!token.algorithm().isSymmetric() || token.secretFile() != null) {
            return Text.of("demo.off-tokens");
        }
        return ListenAddress.isLoopback(config.web().http().address().host()) ? null : Text.of("demo.off-address");
    }

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
     * @return the visitor's session, as JSON
     * @throws IllegalStateException if the login is off, or the user is not a member
     */
    private Future<String> enter(UserId member, Wallets wallets) {
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
                    return new JsonText(512)
                            .beginObject()
                            .plain("user", member.value())
                            .plain("group", GROUP.value())
                            .plain("token", token)
                            .plain("expiresAt", expiresAt.toString())
                            .field("draw", offered == null ? null : offered.toString())
                            .endObject()
                            .toString();
                });
    }

    /**
     * The demo's two calls without a token: the list of users, and the sign-in as one of them. Answers only a browser on this machine
     * that opened a loopback address. Origin excludes pages of other sites, and Host excludes DNS rebinding. Headers that proxies add
     * exclude a proxy on this machine, whose visitors may be remote. Confined to its event loop.
     */
    private static final class DemoRoutes {
        private static final List<String> LOOPBACK = List.of("127.0.0.1", "localhost", "[::1]");

        /** Headers in which proxies name their clients, in lower case. */
        private static final Pattern FROM_A_PROXY =
                Pattern.compile("forwarded|via|x-(original-)?forwarded.*|x-real-ip|.*-(client|connecting)-ip");

        private static final Text ELSEWHERE = Text.of("demo.address");

        private final DemoLogin login;
        private final Wallets wallets;
        private final RateLimits limits;
        private final long answerMillis;

        public DemoRoutes(DemoLogin login, Wallets wallets, RateLimits limits, long answerMillis) {
            this.login = login;
            this.wallets = wallets;
            this.limits = limits;
            this.answerMillis = answerMillis;
        }

        public Future<Reply> about(Call call) {
            return Future.succeededFuture(
                    Reply.json(200, about(isLocal(call.exchange().request()))));
        }

        public Future<Reply> enter(Call call) {
            if (!login.isOpen()) {
                return Future.succeededFuture(Reply.problem(Problem.of(ProblemType.DEMO_OFF, login.whyOff())));
            }
            if (!isLocal(call.exchange().request())) {
                return Future.succeededFuture(Reply.problem(Problem.of(ProblemType.DEMO_OFF, ELSEWHERE)));
            }
            UserId member = new UserId(call.requiredBody().getString("member"));
            if (!DemoLogin.MEMBERS.contains(member)) {
                throw InvalidInputException.of("#/member", Text.of("demo.member"));
            }
            RateDecision decision = limits.call(new Caller(member, Set.of(DemoLogin.GROUP), Role.USER, Instant.MAX));
            call.exchange().tell(decision);
            if (!decision.allowed()) {
                throw new TooManyCallsException(Reason.RATE, Text.of("rate.slow-down"), decision.retryAfterSeconds());
            }
            return login.enter(member, wallets)
                    .timeout(answerMillis, TimeUnit.MILLISECONDS)
                    .map(session -> Reply.json(201, session));
        }

        private String about(boolean local) {
            boolean open = login.isOpen() && local;
            JsonText json = new JsonText(256).beginObject().field("open", open);
            if (open) {
                String members = DemoLogin.MEMBERS.stream()
                        .map(member -> '"' + member.value() + '"')
                        .collect(Collectors.joining(",", "[", "]"));
                json.plain("group", DemoLogin.GROUP.value()).name("members").raw(members);
            } else {
                json.field("reason", (login.isOpen() ? ELSEWHERE : login.whyOff()).toString());
            }
            return json.endObject().toString();
        }

        /** Whether the request comes directly from a loopback page, without a proxy or a page of another origin. */
        private static boolean isLocal(HttpServerRequest request) {
            MultiMap headers = request.headers();
            List<String> hosts = headers.getAll(HttpHeaders.HOST);
            if (hosts.size() != 1 || !isOwn(hosts.get(0), request.localAddress().port())) {
                return false;
            }
            String origin = headers.get(HttpHeaders.ORIGIN);
            return (origin == null || origin.equalsIgnoreCase("http://" + hosts.get(0)))
                    // No browser speaks HTTP/1.0, but nginx does by default, and then adds no header.
                    && request.version() != HttpVersion.HTTP_1_0
                    && headers.names().stream()
                            .noneMatch(name -> FROM_A_PROXY
                                    .matcher(name.toLowerCase(Locale.ROOT))
                                    .matches());
        }

        /** A browser omits the port only if it is 80. */
        private static boolean isOwn(String host, int port) {
            return LOOPBACK.stream()
                    .anyMatch(name ->
                            host.equalsIgnoreCase(name + ":" + port) || (port == 80 && host.equalsIgnoreCase(name)));
        }
    }

    /**
     * The prize draw behind the wheel of a default start: a table of a hundred plays, created and funded by a service account of the
     * demo. One is open at a time; a restart finds it again.
     */
    private static final class DemoWheel {
        /** The draw's creator, which no visitor can sign in as. */
        static final Caller OWNER =
                new Caller(new UserId("demo-wheel"), Set.of(DemoLogin.GROUP), Role.SERVICE, Instant.MAX);

        /** The asset that pays for a play. */
        public static final Asset POINTS = new Asset("POINTS");

        private static final long COST = 10;
        private static final int PLAYS_A_DAY = 50;

        /** Rounds for which each prize's amounts are in escrow. */
        private static final int ROUNDS = 1_000;

        private static final int VOUCHERS = 50;
        private static final Duration OPEN = Duration.ofDays(365);

        private DemoWheel() {}

        /** The open wheel, created if there is none. One caller at a time, on the service's event loop. */
        public static Future<DrawId> ready(DrawService draws, Wallets wallets, Instant now) {
            return draws.newestOpen(OWNER.user())
                    .compose(found -> found == null ? make(draws, wallets, now) : Future.succeededFuture(found))
                    .map(Draw::id);
        }

        private static Future<@Nullable Draw> make(DrawService draws, Wallets wallets, Instant now) {
            DrawDefinition definition = definition(now.plus(OPEN));
            IdempotencyKey key = new IdempotencyKey(UUID.randomUUID().toString());
            return deposit(wallets, definition, DemoLogin.ASSET, key)
                    .compose(paid -> deposit(wallets, definition, POINTS, key))
                    .compose(paid -> draws.create(OWNER, definition, key))
                    .map(draw -> draw);
        }

        private static Future<?> deposit(Wallets wallets, DrawDefinition definition, Asset asset, IdempotencyKey key) {
            long amount = definition.prizes().stream()
                    .filter(prize -> asset.equals(prize.award().asset()))
                    .mapToLong(prize -> prize.award().amount() * Objects.requireNonNull(prize.stock()))
                    .sum();
            return wallets.deposit(
                    Origin.server(OWNER.user()),
                    OWNER.user(),
                    asset,
                    amount,
                    new IdempotencyKey(asset.code() + key.value()));
        }

        /** A hundred plays give 88.88 yuan once, and back nine points in ten. */
        private static DrawDefinition definition(Instant closesAt) {
            List<Prize> prizes = List.of(
                    amount("Grand prize", DemoLogin.ASSET, 8_888, 1),
                    amount("20 points", POINTS, 20, 20),
                    amount("88 fen", DemoLogin.ASSET, 88, 15),
                    prize("Milk tea", new Award(null, 0, true, vouchers()), 5, (long) VOUCHERS),
                    amount("8.88 yuan", DemoLogin.ASSET, 888, 4),
                    amount("10 points", POINTS, 10, 20),
                    amount("100 points", POINTS, 100, 3),
                    prize("Thanks", Award.NOTHING, 32, null));
            return DrawDefinition.of("Lucky wheel", closesAt, DrawDefinition.Mode.TABLE, prizes)
                    .group(DemoLogin.GROUP)
                    .whenExhausted(WhenExhausted.RESCALE)
                    .cost(new Cost(POINTS, COST))
                    .limits(new Limits(0, PLAYS_A_DAY, ZoneId.of("Asia/Shanghai")))
                    .build();
        }

        private static Prize amount(String name, Asset asset, long amount, long count) {
            return prize(name, new Award(asset, amount, false, List.of()), count, count * ROUNDS);
        }

        private static Prize prize(String name, Award award, long count, @Nullable Long stock) {
            return new Prize(name, null, null, null, award, count, stock, 0);
        }

        private static List<String> vouchers() {
            SecureRandom random = new SecureRandom();
            List<String> codes = new ArrayList<>();
            for (int i = 1; i <= VOUCHERS; i++) {
                codes.add("TEA-%02d-%04d".formatted(i, random.nextInt(10_000)));
            }
            return codes;
        }
    }
}
