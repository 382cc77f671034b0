package dev.hongbao.reconcile;

import static dev.hongbao.testing.TestEngine.BACKEND;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;

import dev.hongbao.access.AuditLog.AuditRow;
import dev.hongbao.campaign.Campaign;
import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.ledger.Origin;
import dev.hongbao.ledger.Origin.Note;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.values.UserId;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The audit finds what is wrong with commands, reversals and the log: each check is seen failing on forged books. */
class CommandReconciliationIT extends ChecksContract {
    CommandReconciliationIT() {
        super(
                LedgerChecks.COMMANDS,
                List.of(
                        "alter table transfer disable trigger user",
                        "alter table command disable trigger user",
                        "alter table reversal disable trigger user",
                        "alter table budget_raise disable trigger user",
                        "alter table audit_log disable trigger user"));
    }

    /** A deposit, a withdrawal, a claim on a packet and one on a pool, all reversed; a budget that was raised; two rows of the log. */
    @Override
    void writeBooks(TestEngine engine) {
        TestCampaigns campaigns = new TestCampaigns(engine);
        engine.deposit("shop", 10_000);
        Campaign.View campaign = campaigns.create(TestCampaigns.definition(1_000, 2));
        get(engine.loop(0)
                .call(services -> services.campaigns.raise(
                        TestDraws.SERVICE, campaign.campaign().id(), 10, newKey())));
        reverse(engine, "ann", engine.deposit("ann", 100).id());
        engine.deposit("ann", 100);
        reverse(
                engine,
                "ann",
                get(engine.engine().wallets.withdraw(BACKEND, new UserId("ann"), CNY, 10, newKey()))
                        .id());
        Packet packet = engine.send("ann", 100, 2);
        Packet pool = campaigns.open(campaign, "ann", "shoe");
        for (Packet each : List.of(packet, pool)) {
            engine.claim(each, "bob");
            reverse(engine, "bob", newestClaim(engine, "bob"));
        }
        for (int i = 0; i < 3; i++) {
            get(engine.engine()
                    .auditLog
                    .write(new AuditRow.Kind(
                                    AuditRow.Who.at("192.0.2.1"),
                                    "GET",
                                    "/v1/me/balances",
                                    null,
                                    401,
                                    "unauthenticated")
                            .row()));
        }
    }

    private static void reverse(TestEngine engine, String user, long transfer) {
        Origin why = new Origin(BACKEND.actor(), Origin.By.SERVICE, new Note(null, "by mistake"));
        get(engine.engine().wallets.reverse(why, new UserId(user), transfer, newKey()));
    }

    private static long newestClaim(TestEngine engine, String user) {
        return get(engine.engine().wallets.transfers(new UserId(user), null, null, null, 10)).items().stream()
                .filter(entry -> entry.kind() == TransferKind.CLAIM)
                .findFirst()
                .orElseThrow()
                .id();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "update command set operation = 'withdrawal' where operation = 'deposit'",
                "update command set at = at - interval '1 day' where operation = 'send'",
                "update command set operation = 'send' where operation = 'campaign'",
                "insert into command (id, operation, actor, role, key) values (gen_random_uuid(), 'deposit',"
                        + " 'mallory', 'service', 'k')",
                "update transfer set subject = gen_random_uuid() where kind = 'withdrawal'",
                "delete from budget_raise",
                "update budget_raise set transfer = (select min(id) from transfer where subject = campaign)",
                "insert into command (id, operation, actor, role, key) values (gen_random_uuid(), 'budget', 'mallory',"
                        + " 'service', 'k')",
                "update transfer set amount = amount + 1 where kind = 'reversal'",
                "update transfer set credit = debit, debit = credit where kind = 'reversal' and subject in (select"
                        + " r.command from reversal as r join transfer as t on t.subject = r.subject and t.id = r.transfer"
                        + "  where t.kind = 'withdrawal')",
                "update transfer set credit = (select id from account where owner = 'shop' and kind = 'wallet') where"
                        + " kind = 'reversal' and subject in (select r.command from reversal as r join packet as p on p.id"
                        + " = r.subject where p.sender = 'ann')",
                "update transfer set credit = (select escrow from campaign) where kind = 'reversal' and subject in"
                        + " (select r.command from reversal as r join pool as o on o.packet = r.subject)",
                "update reversal set subject = (select id from packet limit 1), transfer = (select id from transfer"
                        + " where kind = 'send' limit 1) where command = (select min(command::text)::uuid from reversal)",
                "delete from reversal",
                "update command set reason = null where operation = 'reversal'",
                "update command set role = 'user' where operation = 'reversal'",
                "delete from audit_log where n = 2",
                "update audit_log set at = at - interval '1 day' where n = 3",
            })
    void forgedBooksAreFound(String forgery) throws Exception {
        assertFound(forgery);
    }
}
