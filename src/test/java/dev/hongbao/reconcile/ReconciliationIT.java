package dev.hongbao.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.config.HongbaoConfig.ConfigException;
import dev.hongbao.packet.Packet;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import dev.hongbao.server.Operations;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.StreamEntryID;

/** The audit finds what is wrong: each check is seen failing on books that were forged behind the rules' back. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ReconciliationIT extends ChecksContract {
    /** More entries than the audit reads at once. */
    private static final int LATE = 1_100;

    private Packet open;

    ReconciliationIT() {
        super(
                LedgerChecks.PACKETS,
                Stream.of("command", "transfer", "packet", "packet_amounts")
                        .map(table -> "alter table " + table + " disable trigger user")
                        .toList());
    }

    @Override
    void writeBooks(TestEngine engine) {
        engine.deposit("alice", 100_000);
        Packet drained = engine.send("alice", 300, 2);
        open = engine.send("alice", 1000, 10);
        for (String user : List.of("bob", "carol")) {
            engine.claim(drained, user);
            engine.claim(open, user);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        I1 | update packet set refund = 1 where closed_at is not null and count = 2
        I1 | update account set balance = balance + 1 where kind = 'escrow' and balance = 0
        I1 | delete from transfer where kind = 'claim'
        I1 a packet is paid once, | update packet as p set closed_at = now(), refund = e.balance, refund_to = (select id from account where owner = 'bob') from account as e where e.id = p.escrow and p.count = 10; insert into transfer (subject, debit, credit, amount, kind) select id, escrow, refund_to, refund, 'refund' from packet where count = 10; update account as a set balance = case a.kind when 'escrow' then 0 else balance + p.refund end from packet as p where p.count = 10 and a.id in (p.escrow, p.refund_to)
        I1 a packet is paid once, | update packet set escrow = -1 where count = 10
        I1 a packet is paid once, | update packet set sender = 'bob' where count = 10
        I1 a packet is paid once, | insert into transfer (subject, debit, credit, amount, kind) select id, refund_to, escrow, 1, 'send' from packet
        I1 a packet is paid once, | delete from transfer where kind = 'send'
        I2 only recipients | update packet set kind = 'exclusive', recipients = '{bob,dave}' where count = 2
        I2 | update transfer set amount = amount + 1 where slot = 0
        I2 | update packet_amounts set amounts = array[amounts[1] + 1] || amounts[2:] where cardinality(amounts) = 10
        I2 | update packet_amounts set amounts = array[amounts[1] + amounts[2]] || amounts[3:] where cardinality(amounts) = 10
        I2 | delete from packet_amounts where cardinality(amounts) = 10
        I2 | update transfer set slot = 7 where slot = 1 and subject in (select id from packet where count = 10)
        I2 | update transfer as t set slot = 7, amount = b.amounts[8] from packet_amounts as b where b.packet = t.subject and t.slot = 1 and cardinality(b.amounts) = 10
        I2 | delete from transfer where slot = 0
        I2 | update account set claims = claims + 1 where kind = 'escrow' and balance > 0
        I2 | update account set claims = 0 where kind = 'escrow' and balance > 0
        I2 | update account set claims = claims + 1 where kind = 'escrow' and balance = 0
        I3 | update transfer set debit = -1 where kind = 'deposit'
        I3 | delete from command where actor = 'alice'
        I3 | update transfer set subject = gen_random_uuid() where kind = 'deposit'
        I3 | update account set asset = 'GOLD' where owner = 'bob'
        I3 | alter table asset disable trigger asset_is_kept; delete from asset where code = 'CNY'
        I10 | insert into sent_on_day (wallet, day, amount) select id, current_date, 5 from account where owner = 'alice' and kind = 'wallet'
        I4 | update account set balance = balance + 1 where owner = 'bob'
        I4 | alter table account drop constraint account_not_negative; update account set balance = -1 where owner = 'bob'
        I8 | update packet set closed_at = now(), refund = 5 where count = 10
        I8 | update packet set closed_at = null where count = 2; update packet set closed_at = now() where count = 10
        I8 | update packet set opens_at = expires_at - interval '1 second' where count = 2
        I8 | update packet set closed_at = now(), refund = 5, refund_to = (select id from account where owner = 'bob') where count = 10; insert into transfer (subject, debit, credit, amount, kind) select id, escrow, (select id from account where owner = 'alice' and kind = 'wallet'), 5, 'refund' from packet where count = 10
        I8 | update packet as p set closed_at = now(), refund = e.balance from account as e where e.id = p.escrow and p.count = 10; insert into transfer (subject, debit, credit, amount, kind) select id, escrow, refund_to, refund, 'refund' from packet where count = 10
        I8 | insert into refund_due (packet, shard, refund_to) select id, shard, refund_to from packet where count = 10
        I8 | insert into refund_due (packet, shard, refund_to) select id, shard, refund_to from packet where count = 2
        I8 | insert into refund_due (packet, shard, refund_to) values (gen_random_uuid(), 0, 1)
        I8 | update packet as p set closed_at = now(), refund = e.balance from account as e where e.id = p.escrow and p.count = 10; insert into refund_due (packet, shard, refund_to) select id, shard, refund_to + 1 from packet where count = 10
        I8 | update packet as p set closed_at = now(), refund = e.balance from account as e where e.id = p.escrow and p.count = 10; insert into refund_due (packet, shard, refund_to, at) select id, shard, refund_to, now() - interval '11 seconds' from packet where count = 10
        I8 | update packet set closed_at = now(), refund = 5 where count = 10; insert into transfer (subject, debit, credit, amount, kind) select id, escrow, refund_to, refund, 'refund' from packet where count = 10; insert into refund_due (packet, shard, refund_to) select id, shard, refund_to from packet where count = 10
        I1 | update packet set closed_at = now(), refund = 5 where count = 10; insert into refund_due (packet, shard, refund_to) select id, shard, refund_to from packet where count = 10
        I11 | update packet set opens_at = opens_at - interval '1 day', expires_at = now() - interval '11 seconds' where closed_at is null
        I15 | insert into quarantine_unit (id, kind, shard, sqlstate, reason) select id, 'packet', shard, '', 'why' from packet where count = 10
        """)
    void forgedBooksAreFound(String invariant, String forgery) throws Exception {
        assertFound(invariant + " ", forgery);
    }

    /** As the server's role could write them, from one wallet to another. */
    @ParameterizedTest
    @CsvSource({
        "deposit, alice, bob",
        "withdrawal, alice, bob",
        "proceeds, alice, bob",
        "return, alice, bob",
        "award, alice, bob",
        "refund, alice, bob",
        "refund, outside, bob",
        "cost, alice, bob",
        "fund, alice, bob",
        "send, alice, bob"
    })
    void aTransferOfAnotherKindsAccountsIsFound(String kind, String from, String to) throws Exception {
        assertFound(
                "accounts of its kind",
                "insert into transfer (subject, debit, credit, amount, kind) select gen_random_uuid(), d.id, c.id, 5, '"
                        + kind + "' from account as d, account as c where d.owner = '" + from + "' and c.owner = '" + to
                        + "'");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        update transfer set credit = (select id from account where kind = 'source') where slot = 0
        update transfer set debit = (select escrow from packet where count = 10) where slot = 0
        update transfer set credit = (select escrow from packet where count = 10) where kind = 'send'
        """)
    void aTransferOfAnotherSubjectsAccountIsFound(String forgery) throws Exception {
        assertFound("accounts of its kind", forgery);
    }

    /** As the server's role could write it, with both balances. */
    @Test
    void moneyThatPassesThroughAnEscrowOfNothingIsFound() throws Exception {
        String forgery = """
                insert into account (kind, owner, asset) values ('escrow', '%1$s', 'CNY');
                insert into command (id, operation, actor, role, key) values ('%1$s', 'send', 'alice', 'user', 'none');
                insert into transfer (subject, debit, credit, amount, kind)
                select '%1$s', a.id, e.id, 5, 'send' from account as a, account as e
                where a.owner = 'alice' and a.kind = 'wallet' and e.owner = '%1$s';
                insert into transfer (subject, debit, credit, amount, kind)
                select '%1$s', e.id, b.id, 5, 'refund' from account as e, account as b where e.owner = '%1$s' and b.owner = 'bob';
                update account set balance = balance + case owner when 'bob' then 5 else -5 end where owner in ('alice', 'bob')
                """.formatted("01939d1e-8c00-7000-8000-000000000001");
        assertFound("every escrow and hold", forgery);
        assertThat(found(forgery)).hasSize(1);
    }

    @Test
    void aPacketEndsInTheOrderOfItsTransfersAlsoAfterAClockWentBack() throws Exception {
        String closed = """
                update packet as p set closed_at = now() - interval '1 hour', refund = e.balance from account as e where e.id = p.escrow and p.count = 10;
                insert into transfer (subject, debit, credit, amount, kind) select id, escrow, refund_to, refund, 'refund' from packet where count = 10;
                """;
        assertThat(found(closed)).noneMatch(name -> name.contains("no claim was settled"));
        assertFound(
                "no claim was settled",
                closed
                        + "update transfer set id = default where slot = 1 and subject in (select id from packet where count = 10)");
    }

    /** Updates of a packet. */
    private static final List<String> FORGED_SPLITS = List.of(
            "update packet set seed = set_byte(seed, 31, 255 - get_byte(seed, 31)) where id = '%1$s'",
            "update packet set commitment = set_byte(commitment, 0, 255 - get_byte(commitment, 0)) where id = '%1$s'",
            "update packet set max = max - 1 where id = '%1$s'",
            "update packet set split = 'inflate' where id = '%1$s'",
            "update packet set split = 'none' where id = '%1$s'",
            "update packet set split_version = 2 where id = '%1$s'",
            "update packet set luckiest = 1 - luckiest where id = '%1$s'",
            // Another split of the same seed, with a commitment that fits
            "update packet set seed = set_byte(seed, 31, 255 - get_byte(seed, 31)) where id = '%1$s'; update packet set"
                    + " commitment = packet_commitment(id, seed, asset, amount, count, min, max, split, split_version)"
                    + " where id = '%1$s'",
            "update packet_amounts set amounts = array[amounts[2], amounts[1]] || amounts[3:] where amounts[1] <>"
                    + " amounts[2] and packet = '%1$s'",
            "delete from packet_amounts where packet = '%1$s'");

    @Test
    void aSplitThatIsNotTheSeedsIsFound() throws Exception {
        // Given packets whose shares differ, one for each forgery and one that stays true, in books of their own
        try (TestServers own = Servers.fresh()) {
            List<String> packets = new ArrayList<>();
            try (TestEngine engine = TestEngine.start(own, 1, Map.of())) {
                engine.deposit("dora", 1_000_000L * (FORGED_SPLITS.size() + 1));
                for (int i = 0; i <= FORGED_SPLITS.size(); i++) {
                    packets.add(engine.send("dora", 1_000_000, 2).id().toString());
                }
            }
            assertThat(Operations.reconcile(TestEngine.stores(own), finding -> {}))
                    .allMatch(Finding::isClean);
            Books books = new Books(own);
            books.execute("alter table packet drop constraint packet_is_committed; alter table packet disable"
                    + " trigger user; alter table packet_amounts disable trigger user");
            for (int i = 0; i < FORGED_SPLITS.size(); i++) {
                books.execute(FORGED_SPLITS.get(i).formatted(packets.get(i)));
            }

            // When
            List<Finding> findings = Operations.reconcile(TestEngine.stores(own), finding -> {});

            // Then each is told, once
            assertThat(findings)
                    .filteredOn(finding -> finding.name().startsWith("the seed of every packet"))
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.lines())
                            .extracting(line -> line.split(": ")[0])
                            .containsExactlyInAnyOrderElementsOf(packets.stream()
                                    .limit(FORGED_SPLITS.size())
                                    .map(id -> "packet " + id)
                                    .toList()));
        }
    }

    /** The last one: where Redis is given, a fresh one is the same one, emptied. */
    @Test
    @Order(Integer.MAX_VALUE)
    void aDatabaseWithoutAnInstallationIsRefused() {
        try (TestServers empty = Servers.freshWithoutTables()) {
            assertThatThrownBy(() -> Operations.reconcile(TestEngine.stores(empty), finding -> {}))
                    .isInstanceOf(ConfigException.class)
                    .hasMessageContaining("postgres.url");
        }
    }

    /** All in one audit, which looks for two seconds whether a difference stays. */
    @Test
    void whatTheNextRecoveryWritesAnewIsNoViolation() throws Exception {
        // Given a lost packet with two claims, a lost journal of another shard, and a shard of another Redis that holds
        // a wrong slot
        try (TestServers own = Servers.fresh()) {
            List<Packet> packets = new ArrayList<>();
            try (TestEngine engine = TestEngine.start(own, 1, Map.of("shards", "3"))) {
                engine.deposit("alice", 100_000);
                while (packets.size() < 3) {
                    Packet sent = engine.send("alice", 100, 10);
                    engine.claim(sent, "bob");
                    if (packets.stream().noneMatch(packet -> packet.shard() == sent.shard())) {
                        packets.add(sent);
                    }
                }
            }
            Books books = new Books(own);
            List<String> stamps = books.stamps();
            String stamp = stamps.get(packets.get(1).shard());
            try (Jedis redis = new Jedis(URI.create(own.redisUrl()))) {
                redis.del(stamps.get(packets.get(0).shard()) + ":p:"
                        + packets.get(0).id());
                redis.del(stamp + ":journal");
                books.execute("update shard set replid = 'another' where id = "
                        + packets.get(2).shard());
                redis.hset(
                        stamps.get(packets.get(2).shard()) + ":p:"
                                + packets.get(2).id(),
                        "bob",
                        "7");
            }

            // When
            List<Finding> broken = Operations.reconcile(TestEngine.stores(own), finding -> {}).stream()
                    .filter(finding -> !finding.isClean())
                    .toList();

            // Then
            assertThat(broken).singleElement().satisfies(finding -> {
                assertThat(finding.severity()).isEqualTo(Severity.HEALS);
                assertThat(finding.lines())
                        .hasSize(3)
                        .contains("packet " + packets.get(0).id() + " is open, and Redis lacks it")
                        .contains(stamp + " has no journal")
                        .anyMatch(line -> line.contains(packets.get(2).id() + ": Redis holds"));
            });
        }
    }

    @Test
    void aJournalIsReadInPagesToItsEnd() {
        Books books = new Books(servers());
        String stamp = books.stamps().get(open.shard());
        String key = stamp + ":p:" + open.id();
        String journal = stamp + ":journal";
        try (Jedis redis = new Jedis(URI.create(servers().redisUrl()))) {
            // Given more unsettled entries than fit in a page
            StreamEntryID last = redis.xinfoStream(journal).getLastGeneratedId();
            List<StreamEntryID> added = new ArrayList<>();
            Pipeline pipeline = redis.pipelined();
            for (int i = 0; i < LATE; i++) {
                added.add(new StreamEntryID(last.getTime(), last.getSequence() + 1 + i));
                pipeline.hset(key, "late-" + i, Integer.toString(2 + i));
                pipeline.xadd(journal, added.get(i), Books.entry("claim", open.id() + " " + (2 + i) + " late-" + i));
            }
            pipeline.hset(key, "#", Integer.toString(2 + LATE));
            pipeline.sync();

            // Then
            assertThat(audit()).isEmpty();
            redis.xdel(journal, added.toArray(StreamEntryID[]::new));
            redis.hdel(key, IntStream.range(0, LATE).mapToObj(i -> "late-" + i).toArray(String[]::new));
            redis.hset(key, "#", "2");
        }
    }
}
