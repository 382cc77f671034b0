package dev.hongbao.testing;

import static dev.hongbao.testing.TestEngine.BACKEND;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.archive.Archiver;
import dev.hongbao.domain.campaign.CampaignView;
import dev.hongbao.domain.claim.ClaimOutcome;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.ledger.Note;
import dev.hongbao.domain.ledger.Origin;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.rain.RainView;
import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.server.Audit;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A database in which all of a month has happened, and is over: packets, a draw, a campaign, a rain, reversals. */
public final class PastBooks implements AutoCloseable {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final Map<String, String> OPTIONS = Map.of("shards", "1");

    public final TestServers servers = Servers.fresh();
    public final Books books = new Books(servers);
    public final Past past = new Past();
    public final IdempotencyKey playKey = newKey();

    /** By their ids of now. */
    public Packet drained;

    public Packet refunded;
    public Draw draw;
    public CampaignView campaign;
    public RainView rain;

    /** Of the rain; one of its shares was caught. */
    public PacketId drop;

    public PastBooks() {
        try (TestEngine engine = engine()) {
            happen(engine);
        }
        past.move(servers);
    }

    public TestEngine engine() {
        return TestEngine.start(servers, 1, OPTIONS);
    }

    private void happen(TestEngine engine) {
        TestDraws draws = new TestDraws(engine);
        TestCampaigns campaigns = new TestCampaigns(engine);
        TestRains rains = new TestRains(engine);
        engine.deposit("ann", 10_000);
        draws.deposit("shop", CNY, 100_000);
        draws.deposit("bob", TestDraws.POINTS, 1_000);
        rain = rains.create(rains.host("moon", 1_000), TestRains.definition(2, 8, 2, 2));
        drop = rains.awaitFallen(rain, 1).fallen().get(0).packet();
        assertThat(get(engine.claim(0, member("eve"), drop)).kind()).isEqualTo(ClaimOutcome.Kind.CLAIMED);
        // Told at most once a second: not any more, when a slow machine caught it in the last one.
        Eventually.eventually(
                SOON,
                () -> assertThat(books.longOf("select count(*) from rain where caught = 1 or ended"))
                        .isOne());

        drained = engine.send("ann", 1_000, 3);
        List.of("bob", "carl", "dan").forEach(user -> engine.claim(drained, user));
        refunded = engine.send("ann", 500, 2);
        engine.claim(refunded, "bob");
        books.expire(refunded);
        books.awaitClosed(refunded);
        reverse(engine, "ann", engine.deposit("ann", 70).id());
        get(engine.engine().wallets().withdraw(BACKEND, new UserId("carl"), CNY, 1, newKey()));

        draw = draws.create("""
                name: wheel
                mode: table
                whenExhausted: repeat
                cost: {asset: POINTS, amount: 2}
                limits: {total: 1000}
                prizes: [{name: cash, count: 1, stock: 100, award: {asset: CNY, amount: 5}},
                         {name: mug, class: goods, count: 1, stock: 50}, {name: nothing, count: 3}]
                """);
        get(draws.play(0, draw, "bob", 10, playKey));
        get(engine.loop(0).call(services -> services.draws().close(TestDraws.SERVICE, draw.id())));

        campaign = campaigns.create(TestCampaigns.limited(1_000, 2, 5, 5, 5));
        get(engine.loop(0)
                .call(services -> services.campaigns()
                        .raise(TestDraws.SERVICE, campaign.campaign().id(), 10, newKey())));
        Packet pool = campaigns.open(campaign, "ann", "shoe");
        engine.claim(pool, "bob");
        engine.claim(pool, "carl");
        engine.claim(campaigns.open(campaign, "bob", "shoe"), "dan");
        campaigns.end(campaign.campaign().id());
        campaigns.awaitClosed(campaign);
        rains.awaitEnded(rain);
        Eventually.eventually(
                SOON,
                () -> assertThat(books.longOf("select count(*) from draw where closed_at is null"))
                        .isZero());
        assertThat(books.longOf("select count(*) from packet where closed_at is null"))
                .isZero();
    }

    public void reverse(TestEngine engine, String user, long transfer) {
        Origin why = new Origin(BACKEND.actor(), Origin.By.SERVICE, new Note(null, "by mistake"));
        get(engine.engine().accounting().trail().reversals().reverse(why, new UserId(user), transfer, newKey()));
    }

    /** The rain's host. */
    public Caller moon() {
        return new Caller(new UserId("moon"), Set.of(), Role.SERVICE, Instant.MAX);
    }

    public PacketId past(Packet packet) {
        return new PacketId(past.of(packet.id().value()));
    }

    public YearMonth month() {
        return past.month();
    }

    /** What the servers' sweeps do in time, the host's people, and a reconciliation. */
    public PastBooks settleDown() {
        books.execute("delete from idempotency where at < now() - interval '2 days'");
        books.execute("insert into fulfilment (draw, seq, n, state, actor)"
                + " select y.draw, y.seq, 1, 'done', 'backend' from play as y where y.prize = 2");
        books.execute("select outbox_sweep(interval '7 days', 1000000, 1000)");
        books.execute("select feed_trim(interval '1 day', 1000, '0', 1000)");
        reconcile();
        return this;
    }

    public void reconcile() {
        try {
            assertThat(Audit.runSinceCheckpoint(TestEngine.stores(servers))
                            .orElseThrow()
                            .findings())
                    .allSatisfy(finding -> assertThat(finding.lines()).isEmpty());
        } catch (Exception fault) {
            throw new IllegalStateException(fault);
        }
    }

    public Archiver archiver(Path folder) throws Exception {
        return Archiver.open(PostgresAddress.of(servers.postgresOwnerUrl()), folder);
    }

    /** Archives it. */
    public Archiver.Archived archive(Path folder) throws Exception {
        try (Archiver archiver = archiver(folder)) {
            return archiver.archive(month());
        }
    }

    /** All balances. */
    public String balances() {
        return books.strings(
                        "select string_agg(concat_ws(' ', kind, owner, asset, balance), ', ' order by id) from account")
                .get(0);
    }

    /** Rows of the month that are in the database. */
    public List<String> rows() {
        return List.of("transfer", "packet_amounts", "play").stream()
                .map(table -> table + " " + books.longOf("select count(*) from " + table))
                .toList();
    }

    @Override
    public void close() {
        servers.close();
    }
}
