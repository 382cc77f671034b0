package dev.hongbao.ledger;

import static dev.hongbao.testing.TestEngine.BACKEND;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.campaign.Rain;
import dev.hongbao.draw.Draw;
import dev.hongbao.ledger.Ledger.AccountKind;
import dev.hongbao.ledger.Origin.Note;
import dev.hongbao.ledger.Wallets.WalletRecord;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Page;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** All money that somebody moved tells who, under which key, with which reference and why; for ever. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CommandIT {
    private TestServers servers;
    private TestEngine engine;
    private Books books;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of());
    }

    @AfterAll
    void theBooksAreClean() {
        engine.close();
        books.assertClean();
    }

    private static Origin noted(String reference, String reason) {
        return new Origin(BACKEND.actor(), Origin.By.SERVICE, new Note(reference, reason));
    }

    private Command command(UUID id) {
        return get(new Commands(engine.engine().pool()).find(id));
    }

    private static Caller service(String user) {
        return new Caller(new UserId(user), Set.of(GROUP), Role.SERVICE, Instant.MAX);
    }

    private static SendCommand packet(Note note) {
        return SendCommand.of(GROUP, Packet.Kind.LUCKY, CNY, 10, 2)
                .expiresIn(Duration.ofHours(1))
                .note(note)
                .build();
    }

    /** Each would believe that its own money had moved. */
    @Test
    void aKeyThatOneBackendUsedForAWalletIsRefusedToAnother() {
        // Given
        IdempotencyKey key = newKey();
        UserId tess = new UserId("tess");
        Origin shop = Origin.service(new UserId("shop"));
        Wallets wallets = engine.engine().wallets;
        WalletRecord first = get(wallets.deposit(shop, tess, CNY, 100, key));

        // When another asks for the same under the same key, Then it is told no repetition
        IdempotencyKey same = new IdempotencyKey(key.value());
        assertReused(wallets.deposit(BACKEND, tess, CNY, 100, same));
        assertThat(same.isRepeated()).isFalse();
        assertThat(get(wallets.deposit(shop, tess, CNY, 100, key))).isEqualTo(first);
        assertThat(key.isRepeated()).isTrue();
        assertThat(get(wallets.balances(tess))).containsExactly(new Wallets.Balance(CNY, 100));

        // When, then, for what leaves the wallet
        WalletRecord out = get(wallets.withdraw(shop, tess, CNY, 30, key));
        assertReused(wallets.withdraw(BACKEND, tess, CNY, 30, key));

        // When, then, for what is taken back
        Note why = new Note(null, "A mistake.");
        Origin shopWhy = new Origin(shop.actor(), Origin.By.SERVICE, why);
        WalletRecord back = get(wallets.reverse(shopWhy, tess, out.id(), key));
        assertReused(wallets.reverse(new Origin(BACKEND.actor(), Origin.By.SERVICE, why), tess, out.id(), key));
        assertThat(get(wallets.reverse(shopWhy, tess, out.id(), key))).isEqualTo(back);
    }

    private static void assertReused(Future<?> answer) {
        TestCampaigns.assertRefused(Refusal.IDEMPOTENCY_KEY_REUSED, () -> get(answer));
    }

    @Test
    void whoAskedStaysWhenTheKeyIsForgotten() {
        // Given
        IdempotencyKey key = newKey();
        Origin why = noted("order-1", "Paid by card 支付");
        UserId alice = new UserId("alice");
        WalletRecord in = get(engine.engine().wallets.deposit(why, alice, CNY, 100, key));
        Packet sent = engine.send("alice", 10, 2);

        // When the keys are forgotten
        books.longOf("select idempotency_sweep(interval '0', 1000)");

        // Then
        Command deposit = command(in.books().command());
        assertThat(deposit.operation()).isEqualTo("deposit");
        assertThat(deposit.origin()).isEqualTo(why);
        assertThat(deposit.key()).isEqualTo(key.value());
        assertThat(deposit.at()).isEqualTo(in.at());
        assertThat(deposit.moved()).hasSize(1);
        assertThat(deposit.moved().get(0))
                .returns(new Command.Side(AccountKind.SOURCE, "outside"), Command.Moved::from)
                .returns(new Command.Side(AccountKind.WALLET, "alice"), Command.Moved::to);
        Command send = command(sent.id().value());
        assertThat(send.origin()).isEqualTo(new Origin(alice, Origin.By.USER, Note.NONE));
        assertThat(send.moved()).extracting(Command.Moved::amount).containsExactly(10L);
        Page<Command> found = get(new Commands(engine.engine().pool()).list("order-1", null, null, null, 10));
        assertThat(found.items()).containsExactly(deposit);
    }

    @Test
    void theHostsDrawsCampaignsAndRainsTellWhoMadeThem() {
        // Given
        TestDraws draws = new TestDraws(engine);
        TestCampaigns campaigns = new TestCampaigns(engine);
        TestRains rains = new TestRains(engine);
        engine.deposit("shop", 10_000);

        // When
        Draw draw = draws.create("""
            name: Wheel
            mode: table
            closesAt: 2099-01-01T00:00:00Z
            prizes: [{name: cash, award: {asset: CNY, amount: 5}, count: 10}]
            """);
        Campaign.View campaign = campaigns.create(TestCampaigns.definition(1_000, 2));
        Packet pool = campaigns.open(campaign, "ann", "shoe");
        get(engine.loop(0)
                .call(services -> services.campaigns.raise(
                        TestDraws.SERVICE, campaign.campaign().id(), 500, newKey())));
        Rain.View rain = rains.create(rains.host("eve", 10_000), TestRains.definition(60, 3, 2, 1));

        // Then
        assertThat(command(draw.id().value()).operation()).isEqualTo("draw");
        assertThat(command(draw.id().value()).moved())
                .extracting(Command.Moved::amount)
                .containsExactly(50L);
        Command made = command(campaign.campaign().id().value());
        assertThat(made.origin().by()).isEqualTo(Origin.By.SERVICE);
        assertThat(made.moved()).extracting(Command.Moved::amount).containsExactly(1_000L);
        assertThat(command(pool.id().value()).origin().actor()).isEqualTo(new UserId("ann"));
        assertThat(command(rain.rain().id().value()).operation()).isEqualTo("rain");
        Command raise = get(new Commands(engine.engine().pool()).list(null, null, null, null, 50)).items().stream()
                .filter(command -> command.operation().equals("budget"))
                .findFirst()
                .orElseThrow();
        assertThat(raise.moved()).extracting(Command.Moved::amount).containsExactly(500L);
        assertThat(raise.origin().actor()).isEqualTo(TestDraws.SERVICE.user());
    }

    @Test
    void commandsAreListedPageByPage() {
        IntStream.range(0, 5).forEach(i -> engine.deposit("pam", i + 1));
        Commands all = new Commands(engine.engine().pool());

        Page<Command> first = get(all.list(null, null, null, null, 3));
        Page<Command> second = get(all.list(null, null, null, first.next(), 3));

        assertThat(first.items()).hasSize(3);
        assertThat(first.items().get(0).moved().get(0).amount()).isEqualTo(5);
        assertThat(second.items().get(0).moved().get(0).amount()).isEqualTo(2);
    }

    @Test
    void aUserNotesNothingAndTheHostDoes() {
        // Given
        Note note = new Note("gift-1", "New Year");
        engine.deposit("tom", 100);

        // When
        RefusedException refused = catchThrowableOfType(
                RefusedException.class,
                () -> get(
                        engine.loop(0).call(services -> services.packets.send(member("tom"), packet(note), newKey()))));
        Packet sent =
                get(engine.loop(0).call(services -> services.packets.send(service("tom"), packet(note), newKey())));

        // Then
        assertThat(refused.refusal()).isEqualTo(Refusal.NOT_ELIGIBLE);
        assertThat(command(sent.id().value()).origin().note()).isEqualTo(note);
    }

    @Test
    void whereReferencesAreUniqueTheSecondCommandIsToldTheFirst() {
        // Given a reference that named two commands while that was allowed
        UserId una = new UserId("una");
        get(engine.engine().wallets.deposit(noted("old", null), una, CNY, 1, newKey()));
        get(engine.engine().wallets.deposit(noted("old", null), una, CNY, 1, newKey()));
        try (TestEngine unique = TestEngine.start(servers, 1, Map.of("idempotency.references", "unique"))) {
            Wallets wallets = unique.engine().wallets;

            // When many use one at once, and others none or another one
            List<Future<WalletRecord>> same = IntStream.range(0, 10)
                    .mapToObj(i -> wallets.deposit(noted("new", null), new UserId("u" + i), CNY, 1, newKey()))
                    .toList();
            List<Future<WalletRecord>> others = IntStream.range(0, 10)
                    .mapToObj(i -> wallets.deposit(
                            noted(i == 0 ? "other" : null, null), new UserId("o" + i), CNY, 1, newKey()))
                    .toList();
            get(Future.join(same).otherwiseEmpty());

            // Then
            List<Future<WalletRecord>> done =
                    same.stream().filter(Future::succeeded).toList();
            assertThat(done).hasSize(1);
            String first = done.get(0).result().books().command().toString();
            same.stream().filter(Future::failed).forEach(each -> {
                RefusedException refused = (RefusedException) each.cause();
                assertThat(refused.refusal()).isEqualTo(Refusal.REFERENCE_USED);
                assertThat(refused.getMessage()).contains(first);
            });
            others.forEach(each -> assertThat(get(each).amount()).isEqualTo(1));

            // And a withdrawal, a send and a reversal know the same references, also those of before
            unique.deposit("una", 100);
            assertUsed(() -> get(wallets.withdraw(noted("old", null), new UserId("una"), CNY, 1, newKey())));
            assertUsed(() -> get(unique.loop(0)
                    .call(services -> services.packets.send(service("una"), packet(new Note("new", null)), newKey()))));
            long in = unique.deposit("una", 1).id();
            assertUsed(
                    () -> get(unique.engine().wallets.reverse(noted("other", "why"), new UserId("una"), in, newKey())));

            // And of deposits of one request none is made when two of them share one: it is told which
            Deposits deposits = new Deposits(unique.engine().pool(), unique.engine().assets);
            InvalidInputException twice = catchThrowableOfType(
                    InvalidInputException.class,
                    () -> get(deposits.deposit(
                            BACKEND, List.of(one("d1"), one(null), one(null), one("d2"), one("d1")), newKey())));
            assertThat(twice.faults().get(0).pointer()).isEqualTo("#/deposits/4/reference");
            assertThat(get(deposits.deposit(BACKEND, List.of(one("d1"), one(null), one("d2")), newKey())))
                    .hasSize(3);
            assertUsed(() -> get(deposits.deposit(BACKEND, List.of(one("d3"), one("d2")), newKey())));
        }
        try (TestEngine after = TestEngine.start(servers, 1, Map.of())) {
            get(after.engine().wallets.deposit(noted("new", null), new UserId("una"), CNY, 1, newKey()));
        }
    }

    private static Deposits.Deposit one(String reference) {
        return new Deposits.Deposit(new UserId("una"), CNY, 1, new Note(reference, null));
    }

    private static void assertUsed(ThrowingCallable call) {
        TestCampaigns.assertRefused(Refusal.REFERENCE_USED, call);
    }
}
