package dev.hongbao.page;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.DrawService;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.DrawDefinition.Cost;
import dev.hongbao.draw.odds.DrawDefinition.Limits;
import dev.hongbao.draw.odds.DrawDefinition.WhenExhausted;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.draw.odds.Prize.Award;
import dev.hongbao.ledger.Origin;
import dev.hongbao.ledger.Wallets;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The prize draw behind the wheel of a default start: a table of a hundred plays, created and funded by a service account of the
 * demo. One is open at a time; a restart finds it again.
 */
final class DemoWheel {
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
