package dev.hongbao.access;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestCampaigns.assertRefused;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.BACKEND;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.lucky;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.access.Restrictions.Restriction;
import dev.hongbao.access.Restrictions.Restriction.Kind;
import dev.hongbao.access.Restrictions.Restriction.Scope;
import dev.hongbao.access.Restrictions.Restriction.Target;
import dev.hongbao.campaign.Rain;
import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.ledger.Origin;
import dev.hongbao.ledger.Wallets.WalletRecord;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import dev.hongbao.testing.TwoEngines;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.Members;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Page;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who is frozen or blocked on one server is so on both. */
class RestrictionsIT extends TwoEngines {
    private static final Duration SOON = Duration.ofSeconds(20);

    private void change(Target target, boolean place) {
        Restrictions restrictions = engine.engine().restrictions;
        get(
                place
                        ? restrictions.place(target, BACKEND.actor(), "a test")
                        : restrictions.lift(target, BACKEND.actor(), "a test"));
    }

    private void freeze(String user, boolean place) {
        change(new Target(Scope.USER, user, Kind.FROZEN), place);
        eventually(
                SOON,
                () -> assertThat(other.engine().restrictions.ofUser(new UserId(user)) != null)
                        .isEqualTo(place));
    }

    private void block(Target target, boolean place) {
        change(target, place);
        // The other server has heard of all that was before
        Target last = new Target(Scope.USER, "last-" + System.nanoTime(), Kind.FROZEN);
        change(last, true);
        eventually(
                SOON,
                () -> assertThat(other.engine().restrictions.ofUser(new UserId(last.subject())))
                        .isNotNull());
    }

    private Future<Packet> send(TestEngine on, String user, SendCommand command) {
        return on.loop(0).call(services -> services.packets.send(member(user), command, newKey()));
    }

    private Future<ClaimOutcome> claim(TestEngine on, String user, Packet packet) {
        return on.claim(0, packet, user);
    }

    private Future<?> withdraw(TestEngine on, String user) {
        return on.engine().wallets.withdraw(BACKEND, new UserId(user), CNY, 1, newKey());
    }

    @Test
    void whoIsFrozenMovesNothingAndGetsWhatComes() {
        // Given a user with money, a share won, a play played, and an open packet
        TestDraws draws = new TestDraws(engine);
        engine.deposit("eve", 1_000);
        draws.deposit("eve", POINTS, 100);
        Packet own = engine.send("eve", 100, 2);
        Packet won = engine.send("shop", 100, 2);
        Packet other1 = engine.send("shop", 100, 2);
        ClaimOutcome first = engine.claim(won, "eve");
        Draw paid = draws.create("{mode: weights, cost: {asset: POINTS, amount: 5}, prizes: [{name: a, weight: 1}]}");
        Draw free = draws.create("{mode: weights, prizes: [{name: a, weight: 1}]}");
        IdempotencyKey key = newKey();
        PlayOutcome played = get(draws.play(0, paid, "eve", 1, key));
        IdempotencyKey sentKey = newKey();
        Packet sent =
                get(engine.loop(0).call(services -> services.packets.send(member("eve"), lucky(10, 1, SOON), sentKey)));

        // When
        freeze("eve", true);

        // Then, on both servers
        TestCampaigns campaigns = new TestCampaigns(engine);
        var campaign = campaigns.create(TestCampaigns.definition(100, 1));
        assertRefused(Refusal.FROZEN, () -> campaigns.open(campaign, "eve", "shoe"));
        for (TestEngine on : List.of(engine, other)) {
            TestDraws there = new TestDraws(on);
            assertRefused(Refusal.FROZEN, () -> get(send(on, "eve", lucky(10, 1, SOON))));
            assertRefused(Refusal.FROZEN, () -> get(claim(on, "eve", other1)));
            assertRefused(Refusal.FROZEN, () -> get(withdraw(on, "eve")));
            assertRefused(Refusal.FROZEN, () -> get(there.play(0, paid, "eve", 1, newKey())));
            assertRefused(Refusal.FROZEN, () -> get(there.play(0, free, "eve", 1, newKey())));
            // And what was done stays as it was answered
            ClaimOutcome again = get(claim(on, "eve", won));
            assertThat(again.kind()).isEqualTo(ClaimOutcome.Kind.ALREADY_CLAIMED);
            assertThat(again.wonClaim()).isEqualTo(first.wonClaim());
            assertThat(get(there.play(0, paid, "eve", 1, key)).plays()).isEqualTo(played.plays());
            assertThat(get(on.loop(0)
                                    .call(services ->
                                            services.packets.send(member("eve"), lucky(10, 1, SOON), sentKey)))
                            .id())
                    .isEqualTo(sent.id());
        }
        long before = engine.balance("eve");
        WalletRecord deposit = engine.deposit("eve", 7);
        books.expire(own);
        books.awaitClosed(own);
        assertThat(engine.balance("eve")).isEqualTo(before + 107);
        Origin why = new Origin(BACKEND.actor(), Origin.By.SERVICE, new Origin.Note(null, "a fraud"));
        get(engine.engine().wallets.reverse(why, new UserId("eve"), deposit.id(), newKey()));
        assertThat(engine.balance("eve")).isEqualTo(before + 100);

        // When it is over, all is as before
        freeze("eve", false);
        get(withdraw(other, "eve"));
        assertThat(get(claim(other, "eve", other1)).kind()).isEqualTo(ClaimOutcome.Kind.CLAIMED);
        assertThat(get(new TestDraws(other).play(0, free, "eve", 1, newKey())).kind())
                .isEqualTo(PlayOutcome.Kind.PLAYED);
    }

    @Test
    void whatAFreezeMeetsIsDoneBeforeItOrNeverOnAnyServer() {
        // Given sends and withdrawals without end on both servers
        engine.deposit("busy", 100_000);
        List<Future<?>> moves = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            TestEngine on = i % 2 == 0 ? engine : other;
            moves.add(i % 3 == 0 ? withdraw(on, "busy") : send(on, "busy", lucky(3, 1, Duration.ofHours(1))));
        }

        // When
        get(engine.engine()
                .restrictions
                .place(new Target(Scope.USER, "busy", Kind.FROZEN), BACKEND.actor(), "a thief"));

        // Then the wallet is as it was when the freeze was answered
        long held = books.longOf("select balance from account where kind = 'wallet' and owner = 'busy'");
        for (int i = 0; i < 20; i++) {
            TestEngine on = i % 2 == 0 ? engine : other;
            moves.add(i % 3 == 0 ? withdraw(on, "busy") : send(on, "busy", lucky(3, 1, Duration.ofHours(1))));
        }
        int refused = 0;
        for (Future<?> move : moves) {
            try {
                get(move);
            } catch (RefusedException frozen) {
                assertThat(frozen.refusal()).isEqualTo(Refusal.FROZEN);
                refused++;
            }
        }
        assertThat(refused).isGreaterThanOrEqualTo(20);
        assertThat(engine.balance("busy")).isEqualTo(held);
    }

    @Test
    void aBlockedGroupIsClosedAndTheOthersAreNot() {
        GroupId noisy = new GroupId("noisy");
        Caller ann = new Caller(new UserId("ann"), Set.of(noisy, TestEngine.GROUP), Role.USER, Instant.MAX);
        engine.deposit("ann", 1_000);
        SendCommand command =
                SendCommand.of(noisy, Packet.Kind.LUCKY, CNY, 10, 2).build();
        Packet packet = get(engine.loop(0).call(services -> services.packets.send(ann, command, newKey())));
        ClaimOutcome won = get(engine.claim(0, ann, packet.id()));

        block(new Target(Scope.GROUP, "noisy", Kind.BLOCKED), true);

        TestCampaigns campaigns = new TestCampaigns(engine);
        var campaign = campaigns.create(TestCampaigns.definition(100, 1));
        Caller bob = new Caller(new UserId("bob"), Set.of(noisy), Role.USER, Instant.MAX);
        for (TestEngine on : List.of(engine, other)) {
            assertRefused(
                    Refusal.BLOCKED,
                    () -> get(on.loop(0).call(services -> services.packets.send(ann, command, newKey()))));
            assertRefused(Refusal.BLOCKED, () -> get(on.claim(0, bob, packet.id())));
            assertRefused(
                    Refusal.BLOCKED,
                    () -> get(on.loop(0)
                            .call(services -> services.campaigns.open(
                                    ann, campaign.campaign().id(), "shoe", noisy, Metadata.NONE, newKey()))));
            assertThat(get(on.claim(0, ann, packet.id())).wonClaim()).isEqualTo(won.wonClaim());
        }
        get(send(other, "ann", lucky(10, 1, SOON)));

        block(new Target(Scope.GROUP, "noisy", Kind.BLOCKED), false);
        assertThat(get(other.claim(0, bob, packet.id())).kind()).isEqualTo(ClaimOutcome.Kind.CLAIMED);
    }

    @Test
    void nobodyPlaysInABlockedGroupNorCatchesOfItsRain() {
        // Given draws of a group, one of them paid, a play in it, and a rain of the group of which a share was caught
        TestDraws draws = new TestDraws(engine);
        String group = TestEngine.GROUP.value();
        draws.deposit("pat", POINTS, 100);
        Draw paid = draws.create("{mode: weights, group: " + group
                + ", cost: {asset: POINTS, amount: 5}, prizes: [{name: a, weight: 1}]}");
        Draw free = draws.create("{mode: weights, group: " + group + ", prizes: [{name: a, weight: 1}]}");
        Draw everybodys = draws.create("{mode: weights, prizes: [{name: a, weight: 1}]}");
        IdempotencyKey key = newKey();
        PlayOutcome played = get(draws.play(0, paid, "pat", 1, key));
        TestRains rains = new TestRains(engine);
        engine.deposit("shop", 1_600);
        JsonObject definition = TestRains.definition(40, 80, 2, 2)
                .put("startsAt", Instant.now().plusMillis(300).toString());
        IdempotencyKey made = newKey();
        Rain.View rain = rains.awaitFallen(rains.create(TestDraws.SERVICE, definition, made), 1);
        PacketId drop = rain.fallen().get(0).packet();
        ClaimOutcome caught = get(engine.claim(0, member("pat"), drop));
        assertThat(caught.kind()).isEqualTo(ClaimOutcome.Kind.CLAIMED);

        // When
        Target blocked = new Target(Scope.GROUP, group, Kind.BLOCKED);
        block(blocked, true);

        // Then, on both servers, nothing new happens in it, and what happened stays
        for (TestEngine on : List.of(engine, other)) {
            TestDraws there = new TestDraws(on);
            assertRefused(Refusal.BLOCKED, () -> get(there.play(0, paid, "pat", 1, newKey())));
            assertRefused(Refusal.BLOCKED, () -> get(there.play(0, free, "pat", 1, newKey())));
            assertRefused(Refusal.BLOCKED, () -> get(on.claim(0, member("quinn"), drop)));
            assertThat(get(there.play(0, everybodys, "pat", 1, newKey())).kind())
                    .isEqualTo(PlayOutcome.Kind.PLAYED);
            assertThat(get(there.play(0, paid, "pat", 1, key)).plays()).isEqualTo(played.plays());
            assertThat(get(on.claim(0, member("pat"), drop)).wonClaim()).isEqualTo(caught.wonClaim());
        }
        assertThat(draws.balance("pat", POINTS)).isEqualTo(95);
        assertThat(rains.create(TestDraws.SERVICE, definition, made).rain().id())
                .isEqualTo(rain.rain().id());
        assertRefused(Refusal.BLOCKED, () -> rains.create(definition));

        // When it is open again, as before
        block(blocked, false);
        assertThat(get(new TestDraws(other).play(0, free, "pat", 1, newKey())).kind())
                .isEqualTo(PlayOutcome.Kind.PLAYED);
        assertThat(get(other.claim(0, member("quinn"), drop)).kind()).isEqualTo(ClaimOutcome.Kind.CLAIMED);
        rains.cancel(rain.rain().id());
    }

    /** Whether the servers have heard of it or not. */
    @ParameterizedTest
    @CsvSource({"USER, deaf, FROZEN, FROZEN", "GROUP, family, BLOCKED, BLOCKED"})
    void theDatabaseItselfHoldsNoCostFromThenOn(Scope scope, String subject, Kind kind, Refusal refusal) {
        // Given a paid draw of the group
        TestDraws draws = new TestDraws(engine);
        draws.deposit("deaf", POINTS, 100);
        Draw paid = draws.create("{mode: weights, group: " + TestEngine.GROUP.value()
                + ", cost: {asset: POINTS, amount: 5}, prizes: [{name: a, weight: 1}]}");
        long before = draws.balance("deaf", POINTS);

        // When
        String target = "'" + scope + "', '" + subject + "', '" + kind + "'";
        books.execute("select change_restriction(" + target.toLowerCase(Locale.ROOT) + ", true, 'backend', 'why')");

        // Then
        assertRefused(refusal, () -> get(draws.play(0, paid, "deaf", 1, newKey())));
        assertThat(draws.balance("deaf", POINTS)).isEqualTo(before);
        block(new Target(scope, subject, kind), false);
    }

    @Test
    void aDropIsCaughtThroughAGroupThatIsNotBlocked() {
        block(new Target(Scope.GROUP, "wet", Kind.BLOCKED), true);
        Restrictions known = other.engine().restrictions;
        GroupId channel = new GroupId("rain:01939d1e-8c00-7000-8000-000000000003");
        var members = new Members(false, Set.of(new GroupId("wet"), new GroupId("dry")));
        Caller wet = new Caller(new UserId("w"), Set.of(new GroupId("wet")), Role.USER, Instant.MAX);
        Caller both =
                new Caller(new UserId("b"), Set.of(new GroupId("wet"), new GroupId("dry")), Role.USER, Instant.MAX);

        assertThat(known.ofClaim(wet, channel, members)).isNotNull();
        assertThat(known.ofClaim(both, channel, members)).isNull();
        assertThat(known.ofClaim(wet, channel, new Members(true, Set.of()))).isNull();
        assertRefused(Refusal.BLOCKED, () -> get(known.requireOpen(List.of(new GroupId("wet")))));
    }

    @Test
    void aBlockedUserIsKnownToBothAndTheBackendIsNoUser() {
        block(new Target(Scope.USER, "mal", Kind.BLOCKED), true);

        for (TestEngine on : List.of(engine, other)) {
            Restrictions known = on.engine().restrictions;
            assertThat(known.isBlocked(member("mal"))).isTrue();
            assertThat(known.isBlocked(member("ann"))).isFalse();
            assertThat(known.isBlocked(new Caller(new UserId("mal"), Set.of(), Role.SERVICE, Instant.MAX)))
                    .isFalse();
        }
        engine.deposit("mal", 10);
        assertRefused(Refusal.BLOCKED, () -> get(send(other, "mal", lucky(10, 1, SOON))));
    }

    @Test
    void theHistoryIsKeptAndNothingIsWrittenTwice() {
        Target target = new Target(Scope.USER, "hist", Kind.FROZEN);
        Restrictions known = engine.engine().restrictions;
        get(known.place(target, BACKEND.actor(), "first"));
        get(known.place(target, BACKEND.actor(), "again"));
        get(known.lift(target, new UserId("boss"), "mistake"));
        get(known.place(target, BACKEND.actor(), "after all"));

        assertThat(get(known.of(new UserId("hist"))))
                .extracting(each -> each.reason())
                .containsExactly("after all");
        List<Restriction> all = new ArrayList<>();
        String cursor = null;
        do {
            Page<Restriction> page = get(known.page(true, null, null, cursor, 2));
            all.addAll(page.items());
            cursor = page.next();
        } while (cursor != null);
        assertThat(all)
                .filteredOn(each -> each.target().equals(target))
                .extracting(each -> each.reason() + " " + each.placed() + " " + each.inForce())
                .containsExactly("after all true true", "mistake false false", "first true false");
        assertThat(get(known.page(false, null, null, null, 200)).items()).allMatch(Restriction::inForce);
        assertThatThrownBy(() -> books.execute("update restriction set reason = 'better'"))
                .hasStackTraceContaining("never changed");

        // And who starts later knows what is in force
        Restrictions fresh =
                new Restrictions(engine.engine().pool(), engine.engine().pool());
        get(fresh.reload());
        assertThat(fresh.ofUser(new UserId("hist"))).isNotNull();
        assertThat(fresh.ofUser(new UserId("ann"))).isNull();
    }

    @Test
    void whatCouldNotBeReadAfterARestoreIsReadAtTheNextLook() {
        Vertx vertx = Vertx.vertx();
        try {
            // Given a history that is known
            books.execute("create table diary (n bigint, what text); insert into diary values (7, 'lost');"
                    + " grant select on diary to public");
            List<String> known = new CopyOnWriteArrayList<>();
            History history = new History(
                    engine.engine().pool(),
                    "select n, what from diary order by n desc",
                    "select n, what from diary where n > $1 order by n limit $2",
                    rows -> {
                        known.clear();
                        rows.forEach(row -> known.add(row.getString("what")));
                    },
                    row -> known.add(row.getString("what")));
            get(history.start(vertx));
            assertThat(known).containsExactly("lost");

            // When the database goes back in time, and cannot be read just then
            books.execute("alter table diary rename to away; update away set n = 3, what = 'restored'");
            assertThatThrownBy(() -> get(history.reload())).hasStackTraceContaining("diary");
            books.execute("alter table away rename to diary");

            // Then
            eventually(SOON, () -> assertThat(known).containsExactly("restored"));
        } finally {
            get(vertx.close());
        }
    }
}
