package dev.hongbao.ledger;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestCampaigns.assertRefused;
import static dev.hongbao.testing.TestEngine.BACKEND;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.config.HongbaoConfig.DeclaredAsset;
import dev.hongbao.ledger.Assets.Terms.Caps;
import dev.hongbao.ledger.Assets.Terms.Senders;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TwoEngines;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What is counted is declared, and its caps hold: two servers on the same stores. */
class AssetsIT extends TwoEngines {
    private static final Duration SOON = Duration.ofSeconds(20);

    private void deposit(String user, Asset asset, long amount) {
        get(engine.engine().wallets.deposit(BACKEND, new UserId(user), asset, amount, newKey()));
    }

    private static SendCommand lucky(Asset asset, long amount, int count) {
        return SendCommand.of(GROUP, Packet.Kind.LUCKY, asset, amount, count).build();
    }

    private Future<Packet> send(TestEngine on, int loop, String sender, SendCommand command) {
        return on.loop(loop).call(services -> services.packets.send(member(sender), command, newKey()));
    }

    private Packet sent(String sender, SendCommand command) {
        return get(send(engine, 0, sender, command));
    }

    @Test
    void whatNobodyDeclaredIsRefusedEverywhereAndTheRefusalNamesWhatThereIs() {
        Asset mistyped = new Asset("CYN");

        assertThatThrownBy(() -> deposit("typist", mistyped, 1))
                .hasMessageContaining("There is no asset CYN")
                .hasMessageContaining("CNY, ");
        assertRefused(Refusal.UNKNOWN_ASSET, () -> deposit("typist", mistyped, 1));
        assertRefused(Refusal.UNKNOWN_ASSET, () -> sent("typist", lucky(mistyped, 10, 1)));
        assertRefused(
                Refusal.UNKNOWN_ASSET,
                () -> get(engine.engine().wallets.withdraw(BACKEND, new UserId("typist"), mistyped, 1, newKey())));
        TestCampaigns campaigns = new TestCampaigns(engine);
        assertRefused(
                Refusal.UNKNOWN_ASSET,
                () -> campaigns.create(TestCampaigns.definition(100, 1).put("asset", "CYN")));
        assertThat(books.longOf("select count(*) from account where asset = 'CYN'"))
                .isZero();
        // And by the database itself, whoever asks
        assertThatThrownBy(
                        () -> books.execute("insert into account (kind, owner, asset) values ('wallet', 'x', 'CYN')"))
                .hasStackTraceContaining("asset_is_declared");
    }

    @Test
    void whatOneServerDeclaresTheOtherTakesAtOnce() {
        Asset tea = new Asset("TEA");
        engine.declare(tea);

        get(other.engine().wallets.deposit(BACKEND, new UserId("mei"), tea, 3, newKey()));

        Assets assets = other.engine().assets;
        assertThat(get(assets.find(tea)).scale()).isZero();
        assertThat(get(assets.list(null, 200)).items())
                .extracting(Assets.Terms::asset)
                .contains(tea, TestEngine.CNY);
        assertThat(get(assets.list(null, 1)).next()).isEqualTo("CNY");
    }

    @Test
    void aStartSaysThatAConfiguredScaleIsNotTheOneInUse() {
        Logger logger = (Logger) LoggerFactory.getLogger(Assets.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);

        get(engine.engine()
                .assets
                .start(engine.vertx(), List.of(DeclaredAsset.parse("CNY:3:¥"), DeclaredAsset.parse("POINTS:0:p"))));

        logger.detachAppender(log);
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("assets.declared: CNY keeps its 2 digits, and does not get 3");
    }

    @Test
    void aScaleStaysAndSoDoesThatADayHasACap() {
        Asset coin = new Asset("COIN");
        Caps capped = new Caps(5L, 4L, 9L);
        assertThat(engine.declare(coin, Senders.SERVICE, capped).caps()).isEqualTo(capped);

        Assets assets = engine.engine().assets;
        assertRefused(
                Refusal.ASSET_DIFFERS,
                () -> get(assets.declare(new Assets.Terms(coin, 2, "c", Senders.SERVICE, capped, Instant.EPOCH))));
        assertRefused(Refusal.ASSET_DIFFERS, () -> engine.declare(coin, Senders.SERVICE, new Caps(null, null, null)));
        Assets.Terms changed = engine.declare(coin, Senders.EVERYBODY, new Caps(null, null, 10L));
        assertThat(changed.caps()).isEqualTo(new Caps(null, null, 10L));
        assertThat(changed.senders()).isEqualTo(Senders.EVERYBODY);
        assertThatThrownBy(() -> books.execute("delete from asset where code = 'COIN'"))
                .hasStackTraceContaining("never changed");
    }

    @Test
    void capsOnAPacketAndAShareHoldAndASplitKeepsToThem() {
        // Given 200 a share, 1,000 a packet
        Asset yuan = new Asset("YUAN");
        engine.declare(yuan, Senders.EVERYBODY, new Caps(1_000L, 200L, null));
        deposit("ann", yuan, 10_000);

        // When, Then a random split without a max keeps to the cap
        Packet packet = sent("ann", lucky(yuan, 1_000, 6));
        assertThat(packet.terms().max()).isEqualTo(200);
        assertThat(books.longOf(
                        "select max(a) from packet_amounts, unnest(amounts) as a where packet = '" + packet.id() + "'"))
                .isLessThanOrEqualTo(200);

        assertRefused(Refusal.ABOVE_CAP, () -> sent("ann", lucky(yuan, 1_001, 10)));
        assertRefused(Refusal.ABOVE_CAP, () -> sent("ann", lucky(yuan, 1_000, 4)));
        SendCommand wide = SendCommand.of(GROUP, Packet.Kind.LUCKY, yuan, 500, 4)
                .shares(null, 201L)
                .build();
        assertRefused(Refusal.ABOVE_CAP, () -> sent("ann", wide));
        SendCommand equal =
                SendCommand.of(GROUP, Packet.Kind.EQUAL, yuan, 402, 2).build();
        assertRefused(Refusal.ABOVE_CAP, () -> sent("ann", equal));
        assertThat(books.longOf(
                        "select balance from account where kind = 'wallet' and owner = 'ann' and asset = 'YUAN'"))
                .isEqualTo(9_000);
    }

    @Test
    void whatWasSentUnderAKeyIsAnsweredWhateverTheCapsAreNow() {
        Asset pearl = new Asset("PEARL");
        engine.declare(pearl);
        deposit("ann", pearl, 100);
        IdempotencyKey key = newKey();
        SendCommand command = lucky(pearl, 100, 1);
        Packet first = get(engine.loop(0).call(services -> services.packets.send(member("ann"), command, key)));

        engine.declare(pearl, Senders.EVERYBODY, new Caps(10L, 10L, 10L));

        Packet again = get(other.loop(0).call(services -> services.packets.send(member("ann"), command, key)));
        assertThat(again.id()).isEqualTo(first.id());
    }

    @Test
    void aSenderSpendsExactlyWhatADayAllows() {
        // Given 20 a day, of which 7 were sent before there was a cap
        Asset jade = new Asset("JADE");
        engine.declare(jade);
        deposit("rich", jade, 100);
        sent("rich", lucky(jade, 7, 1));
        engine.declare(jade, Senders.EVERYBODY, new Caps(null, null, 20L));

        // When, then, on either server
        get(send(other, 0, "rich", lucky(jade, 7, 1)));
        assertRefused(Refusal.DAY_CAP_REACHED, () -> sent("rich", lucky(jade, 7, 1)));

        // And another sender has a day of their own, a smaller packet still fits, and tomorrow is another day
        deposit("poor", jade, 7);
        sent("poor", lucky(jade, 7, 1));
        sent("rich", lucky(jade, 6, 1));
        assertRefused(Refusal.DAY_CAP_REACHED, () -> sent("rich", lucky(jade, 1, 1)));
        books.execute(
                "update packet set created_at = created_at - interval '1 day' where sender = 'rich';"
                        + " update sent_on_day set day = day - 1 where wallet in (select id from account where owner = 'rich')");
        sent("rich", lucky(jade, 7, 1));
        assertThat(books.longOf("select amount from sent_on_day join account on id = wallet where owner = 'rich'"))
                .isEqualTo(7);
    }

    @Test
    void whatOnlyTheBackendSendsOthersClaim() {
        Asset coupon = new Asset("COUPON-SHOES");
        engine.declare(coupon, Senders.SERVICE, Caps.NONE);
        deposit("shop", coupon, 5);
        deposit("ann", coupon, 5);

        assertRefused(Refusal.NOT_ELIGIBLE, () -> sent("ann", lucky(coupon, 5, 1)));
        Caller shop = new Caller(new UserId("shop"), Set.of(GROUP), Role.SERVICE, Instant.MAX);
        Packet packet =
                get(engine.loop(0).call(services -> services.packets.send(shop, lucky(coupon, 5, 1), newKey())));
        engine.claim(packet, "ann");

        assertThat(books.longOf("select balance from account where owner = 'ann' and asset = 'COUPON-SHOES'"))
                .isEqualTo(10);
        // The other server hears of who may send within a second
        eventually(
                SOON,
                () -> assertThat(other.engine().assets.cached(coupon).senders()).isEqualTo(Senders.SERVICE));
        assertRefused(Refusal.NOT_ELIGIBLE, () -> get(send(other, 0, "ann", lucky(coupon, 5, 1))));
    }

    @Test
    void aPoolIsHeldToTheCapsOfAPacketAndNotToADay() {
        Asset gem = new Asset("GEM");
        engine.declare(gem, Senders.EVERYBODY, new Caps(10L, null, 10L));
        deposit("shop", gem, 1_000);
        TestCampaigns campaigns = new TestCampaigns(engine);
        var small = campaigns.create(TestCampaigns.definition(100, 1).put("asset", "GEM"));
        var large = campaigns.create(TestCampaigns.definition(100, 2).put("asset", "GEM"));

        campaigns.open(small, "ann", "a");
        campaigns.open(small, "ann", "b");
        assertRefused(Refusal.ABOVE_CAP, () -> campaigns.open(large, "ann", "c"));
    }
}
