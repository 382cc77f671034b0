package dev.hongbao.ledger;

import static dev.hongbao.testing.TestEngine.BACKEND;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.draw.Draw;
import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.ledger.Origin.Note;
import dev.hongbao.ledger.Wallets.WalletRecord;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A transfer is taken back by another one that names it: once, to where it came from, and only while the money is there. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReversalIT {
    private static final Origin WHY =
            new Origin(BACKEND.actor(), Origin.By.SERVICE, new Note("ticket-1", "by mistake"));

    private TestEngine engine;
    private Books books;

    @BeforeAll
    void start(TestServers given) {
        books = new Books(given);
        engine = TestEngine.start(given, 2, Map.of());
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertClean();
    }

    private Future<WalletRecord> reversing(String user, long transfer) {
        return engine.engine().wallets.reverse(WHY, new UserId(user), transfer, newKey());
    }

    private WalletRecord reverse(String user, long transfer) {
        return get(reversing(user, transfer));
    }

    private RefusedException refused(Refusal why, String user, long transfer) {
        RefusedException refused = catchThrowableOfType(RefusedException.class, () -> get(reversing(user, transfer)));
        assertThat(refused).isNotNull();
        assertThat(refused.refusal()).isEqualTo(why);
        return refused;
    }

    private WalletRecord newest(String user, TransferKind kind) {
        return get(engine.engine().wallets.transfers(new UserId(user), null, null, null, 50)).items().stream()
                .filter(entry -> entry.kind() == kind)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aDepositAndAWithdrawalAreReversedAndNameEachOther() {
        // Given
        WalletRecord in = engine.deposit("ann", 100);
        WalletRecord out = get(engine.engine().wallets.withdraw(BACKEND, new UserId("ann"), CNY, 30, newKey()));

        // When
        WalletRecord back = reverse("ann", out.id());
        WalletRecord gone = reverse("ann", in.id());

        // Then
        assertThat(back.kind()).isEqualTo(TransferKind.REVERSAL);
        assertThat(back)
                .returns(true, WalletRecord::credit)
                .returns(CNY, WalletRecord::asset)
                .returns(30L, WalletRecord::amount);
        assertThat(gone)
                .returns(false, WalletRecord::credit)
                .returns(CNY, WalletRecord::asset)
                .returns(100L, WalletRecord::amount);
        assertThat(gone.books().reverses()).isEqualTo(in.id());
        assertThat(gone.books().note()).isEqualTo(WHY.note());
        assertThat(newest("ann", TransferKind.DEPOSIT).books().reversedBy())
                .isEqualTo(gone.books().command());
        assertThat(engine.balance("ann")).isZero();
    }

    @Test
    void aClaimGoesBackToTheSenderAndStaysAClaim() {
        // Given
        engine.deposit("sue", 100);
        Packet packet = engine.send("sue", 100, 2);
        long won = engine.claim(packet, "bob").wonClaim().amount();

        // When
        reverse("bob", newest("bob", TransferKind.CLAIM).id());

        // Then
        assertThat(engine.balance("bob")).isZero();
        assertThat(engine.balance("sue")).isEqualTo(won);
        assertThat(newest("sue", TransferKind.REVERSAL).credit()).isTrue();
        assertThat(engine.claim(packet, "bob").wonClaim().amount()).isEqualTo(won);
        assertThat(engine.balance("bob")).isZero();
    }

    @Test
    void whatAPoolHasPaidGoesToTheHostAlsoWhenTheCampaignIsClosed() {
        // Given
        engine.deposit("shop", 1_000);
        TestCampaigns campaigns = new TestCampaigns(engine);
        Campaign.View campaign = campaigns.create(TestCampaigns.definition(1_000, 2));
        Packet pool = campaigns.open(campaign, "opener", "shoe");
        long won = engine.claim(pool, "carl").wonClaim().amount();
        campaigns.end(campaign.campaign().id());
        campaigns.awaitClosed(campaign);
        assertThat(engine.balance("shop")).isEqualTo(1_000 - won);

        // When
        reverse("carl", newest("carl", TransferKind.CLAIM).id());

        // Then
        assertThat(engine.balance("shop")).isEqualTo(1_000);
        reverseAllOf("shop");
    }

    /** So that tests do not know each other's money. */
    private void reverseAllOf(String user) {
        get(engine.engine().wallets.withdraw(BACKEND, new UserId(user), CNY, engine.balance(user), newKey()));
    }

    @Test
    void anAwardGoesToTheDrawsOwner() {
        // Given
        TestDraws draws = new TestDraws(engine);
        draws.deposit("shop", CNY, 50);
        Draw draw = draws.create("""
            name: Wheel
            mode: table
            closesAt: 2099-01-01T00:00:00Z
            prizes: [{name: cash, award: {asset: CNY, amount: 5}, count: 10}]
            """);
        get(draws.play(0, draw, "dora"));
        assertThat(engine.balance("dora")).isEqualTo(5);

        // When
        reverse("dora", newest("dora", TransferKind.AWARD).id());

        // Then
        assertThat(engine.balance("dora")).isZero();
        assertThat(engine.balance("shop")).isEqualTo(5);
        reverseAllOf("shop");
    }

    @Test
    void whatIsNotThereOrNotOfSuchAKindStays() {
        // Given a sender who has claimed from the own packet, and spent what bob could not keep
        WalletRecord in = engine.deposit("lea", 100);
        Packet packet = engine.send("lea", 100, 1);
        engine.claim(packet, "lea");
        WalletRecord small = engine.deposit("pat", 7);
        get(engine.engine().wallets.withdraw(BACKEND, new UserId("pat"), CNY, 4, newKey()));

        // Then
        refused(Refusal.NOT_REVERSIBLE, "lea", newest("lea", TransferKind.CLAIM).id());
        refused(Refusal.NOT_REVERSIBLE, "lea", newest("lea", TransferKind.SEND).id());
        refused(Refusal.NOT_FOUND, "pat", in.id());
        refused(Refusal.NOT_FOUND, "nobody", in.id());
        assertThat(refused(Refusal.INSUFFICIENT_FUNDS, "pat", small.id()).getMessage())
                .contains("holds 3");
        WalletRecord reversed = reverse("lea", in.id());
        refused(Refusal.NOT_REVERSIBLE, "lea", reversed.id());
        assertThat(refused(Refusal.ALREADY_REVERSED, "lea", in.id()).getMessage())
                .contains(reversed.books().command().toString());
    }

    /** Of the latest transfer of a kind. */
    private static final String NAMED = "with asked as (insert into command (id, operation, actor, role, key) values"
            + " (gen_random_uuid(), 'reversal', 'backend', 'service', 'k') returning id), named as (insert into reversal"
            + " select asked.id, t.subject, t.id from asked, transfer as t where t.id = (select max(id) from transfer"
            + " where kind = ";

    private static final String REVERSED =
            ") returning command, transfer) insert into transfer (subject, debit, credit,"
                    + " amount, kind) select named.command, ";

    private static final String OF = ", t.amount, 'reversal' from named join transfer as t on t.id = named.transfer,"
            + " account as other where other.owner = 'other'";

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "owner; reversal; update reversal set transfer = transfer + 1",
                "owner; reversal; delete from reversal",
                "owner; reversal; truncate reversal",
                "app; permission; delete from reversal",
                "owner; budget_raise; delete from budget_raise",
                "app; permission; update budget_raise set transfer = 1",
                "owner; audit_log; delete from audit_log",
                "owner; audit_log; update audit_log set status = 200",
                "owner; audit_log; truncate audit_log",
                "app; audit_log is never changed; delete from audit_log",
                "app; permission; update audit_log set actor = 'mallory'",
                "owner; reversal_subject_transfer_key; insert into reversal select gen_random_uuid(), subject,"
                        + " transfer from reversal limit 1",
                "app; transfer_reverses_one; insert into transfer (subject, debit, credit, amount, kind) select"
                        + " subject, credit, debit, amount, 'reversal' from transfer where kind = 'deposit' order by id"
                        + " desc limit 1",
                "app; transfer_reverses_one; insert into transfer (subject, debit, credit, amount, kind) select"
                        + " subject, debit, credit, amount, kind from transfer where kind = 'reversal' order by id"
                        + " desc limit 1",
                // To a wallet, from another one's, and of a kind that is never reversed
                "app; transfer_reverses_one; " + NAMED + "'deposit'" + REVERSED + "t.credit, other.id" + OF,
                "app; transfer_reverses_one; " + NAMED + "'deposit'" + REVERSED + "other.id, t.debit" + OF,
                "app; transfer_reverses_one; " + NAMED + "'reversal'" + REVERSED + "t.credit, t.debit" + OF,
                "app; reversal_has_transfer; " + NAMED + "'deposit')) select 1"
            })
    void theDatabaseHoldsTheRules(String role, String rule, String sql) {
        // Given
        engine.deposit("other", 1);
        reverse("rex", engine.deposit("rex", 1).id());
        engine.deposit("rex", 1);
        books.execute("insert into audit_log (n, at, method, route, status)"
                + " select coalesce(max(n), 0) + 1, now(), 'GET', '/', 200 from audit_log");

        // Then
        assertThatThrownBy(() -> books.executeAs(role, sql)).hasMessageContaining(rule);
    }
}
