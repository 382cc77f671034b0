package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import java.io.File;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AccountsApi;
import org.openapitools.client.api.AssetsApi;
import org.openapitools.client.api.AuditApi;
import org.openapitools.client.api.BooksApi;
import org.openapitools.client.api.CampaignsApi;
import org.openapitools.client.api.DemoApi;
import org.openapitools.client.api.DrawsApi;
import org.openapitools.client.api.MeApi;
import org.openapitools.client.api.OutboxApi;
import org.openapitools.client.api.PacketsApi;
import org.openapitools.client.api.RainsApi;
import org.openapitools.client.api.RestrictionsApi;
import org.openapitools.client.api.SupportApi;
import org.openapitools.client.model.*;

/**
 * A client that was generated from the contract, as it comes, calls every call of a whole server. The build generates it with
 * {@code -Pclients}.
 */
@ExtendWith(Servers.class)
class GeneratedClientIT extends TestServerClient {
    /** {@code GET /v1/…} as they were sent. */
    private static final Set<String> CALLED = ConcurrentHashMap.newKeySet();

    private static final OffsetDateTime LATER = OffsetDateTime.parse("2035-01-01T08:00:00.123456789+08:00");

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    @AfterAll
    static void everyCallWasMade() {
        CalledCalls.assertEvery(CALLED);
    }

    private ApiClient client(String user) {
        String token = token(user == null ? "shop" : user, group, user == null ? Role.SERVICE : Role.USER);
        ApiClient client = new ApiClient();
        client.updateBaseUri(base().toString());
        client.setRequestInterceptor(request -> {
            HttpRequest sent =
                    request.header("Authorization", "Bearer " + token).build();
            CALLED.add(sent.method() + " " + sent.uri().getPath());
        });
        return client;
    }

    private PacketsApi packets(String user) {
        return new PacketsApi(client(user));
    }

    private static String key() {
        return UUID.randomUUID().toString();
    }

    private void deposit(String user, long amount) throws ApiException {
        new AccountsApi(client(null))
                .deposit(name(user), key(), new Money().asset("CNY").amount(amount));
    }

    /** A packet of one yuan in one share, which its sender is given. */
    private Packet sendOneShare(String sender) throws ApiException {
        deposit(sender, 100L);
        Send send = new Send()
                .group(group)
                .kind(Kind.EQUAL)
                .asset("CNY")
                .amount(100L)
                .count(1);
        return packets(sender).sendPacket(key(), send);
    }

    @Test
    void everyViewAgreesOnAPacketAndItsMoney() throws Exception {
        // Given money, and a feed
        AccountsApi accounts = new AccountsApi(client(null));
        Transfer in =
                accounts.deposit(name("alice"), key(), new Money().asset("CNY").amount(1_000L));
        assertThat(in.getKind()).isEqualTo(Transfer.KindEnum.DEPOSIT);
        Reset start = packets("bob").listEvents(group, null, null).getReset();
        String cursor = packets("bob").listEvents(group, null, null).getNext();
        assertThat(start.getReason()).isEqualTo(ResetReason.START);

        // When a packet is sent as the builder leaves it, with its lists that are empty, and claimed without a body
        Send send = new Send()
                .group(group)
                .kind(Kind.LUCKY)
                .asset("CNY")
                .amount(300L)
                .count(2)
                .greeting("恭喜发财");
        Packet packet = packets("alice").sendPacket(key(), send);
        Claim first = packets("bob").claim(packet.getId(), null, null);
        Claim again = packets("bob").claim(packet.getId(), "respond-async", new ClaimBody());
        packets("carol").claim(packet.getId(), null, null);

        // Then every view says so
        assertThat(first.getStatus()).isEqualTo(Claim.StatusEnum.SETTLED);
        assertThat(again).isEqualTo(first);
        Packet over = packets("bob").getPacket(packet.getId(), null);
        assertThat(over.getStatus()).isEqualTo(PacketStatus.DRAINED);
        assertThat(over.getMine()).isEqualTo(first);
        assertThat(over.getClaimed().getAmount()).isEqualTo(300L);
        ClaimPage claims = packets("bob").listClaims(packet.getId(), null, 10);
        assertThat(claims.getItems()).hasSize(2);
        assertThat(claims.getLuckiest()).isEqualTo(over.getLuckiest());
        MeApi me = new MeApi(client("bob"));
        assertThat(me.listMyClaims(null, null, null, null, 10).getItems())
                .extracting(OwnClaim::getPacket)
                .containsExactly(packet.getId());
        assertThat(me.getMyBalances().getItems())
                .containsExactly(new Balance()
                        .asset("CNY")
                        .amount(first.getAmount())
                        .amountText(first.getAmount().toString()));
        assertThat(me.listMyTransfers(null, null, null, 10).getItems()).hasSize(1);
        assertThat(me.getMySummary(null, null).getReceived())
                .containsExactly(new ReceivedTotal()
                        .asset("CNY")
                        .count(1L)
                        .amount(first.getAmount())
                        .amountText(first.getAmount().toString())
                        .luckiest(over.getLuckiest().getUser().equals(name("bob")) ? 1L : 0L));
        assertThat(new MeApi(client("alice"))
                        .listMyPackets(null, null, null, null, null, 10)
                        .getItems())
                .extracting(Packet::getId)
                .containsExactly(packet.getId());
        accounts.withdraw(name("alice"), key(), new Money().asset("CNY").amount(700L));
        assertThat(accounts.getUserBalances(name("alice")).getItems().get(0).getAmount())
                .isZero();
        assertThat(accounts.listUserTransfers(name("alice"), null, null, null, 10)
                        .getItems())
                .hasSize(3);

        // And each event is of its own class
        eventually(() ->
                !packets("bob").listEvents(group, cursor, "wait=1").getItems().isEmpty());
        eventually(() -> packets("bob").listEvents(group, cursor, null).getItems().stream()
                .anyMatch(event -> event.getActualInstance() instanceof EndEvent));
        EventPage page = packets("bob").listEvents(group, cursor, null);
        assertThat(page.getItems())
                .extracting(event -> (Class) event.getActualInstance().getClass())
                .contains(SentEvent.class, EndEvent.class);
        assertThat(((SentEvent) page.getItems().get(0).getActualInstance())
                        .getData()
                        .getPacket()
                        .getGreeting())
                .isEqualTo("恭喜发财");
    }

    @Test
    void whoDidWhatFromTheReferenceToTheReversal() throws Exception {
        // Given
        Money money = new Money()
                .asset("CNY")
                .amount(100L)
                .reference("order-" + group)
                .reason("Paid by card");
        Transfer in = new AccountsApi(client(null)).deposit(name("alice"), key(), money);
        AuditApi audit = new AuditApi(client(null));

        // When
        Transfer back =
                audit.reverseTransfer(name("alice"), in.getId(), key(), new ReversalBody().reason("Paid twice"));

        // Then
        assertThat(back.getKind()).isEqualTo(Transfer.KindEnum.REVERSAL);
        assertThat(back.getReverses()).isEqualTo(in.getId());
        Command command = audit.getCommand(in.getCommand());
        assertThat(command.getActor().getRole()).isEqualTo(Actor.RoleEnum.SERVICE);
        assertThat(command.getTransfers().get(0).getReversedBy()).isEqualTo(back.getCommand());
        assertThat(audit.listCommands("order-" + group, null, null, null, 10).getItems())
                .containsExactly(command);
        OffsetDateTime hourAgo = OffsetDateTime.now().minusHours(1);
        eventually(() -> audit.listAuditLog(hourAgo, null, null, null, null, 200).getItems().stream()
                .anyMatch(row -> row.getRoute().equals("/v1/accounts/{user}/transfers/{transfer}/reverse")));
        assertThat(lines(audit.exportAuditLog(hourAgo, null, null, null, "csv")))
                .hasSizeGreaterThan(2);
    }

    @Test
    void whatSupportSeesAndDoes() throws Exception {
        // Given deposits for many, and a packet that is sent for a user
        SupportApi support = new SupportApi(client(null));
        DepositedBatch deposited = support.depositMany(
                key(),
                new DepositBatch()
                        .deposits(List.of(
                                new Deposit().user(name("alice")).asset("CNY").amount(300L),
                                new Deposit()
                                        .user(name("bob"))
                                        .asset("CNY")
                                        .amount(1L)
                                        .reference("bonus"))));
        assertThat(deposited.getItems()).extracting(Transfer::getAmount).containsExactly(300L, 1L);
        Send send = new Send()
                .group(group)
                .kind(Kind.LUCKY)
                .asset("CNY")
                .amount(150L)
                .count(2);
        Packet cancelled = support.sendPacketForUser(name("alice"), key(), send);
        Packet closed = support.sendPacketForUser(name("alice"), key(), send);
        Claim claim = packets("bob").claim(closed.getId(), null, null);

        // Given claims for users
        List<String> groups = List.of(group);
        assertThat(support.claimForUser(
                        name("bob"), new ClaimForUser().packet(closed.getId()).groups(groups), null))
                .isEqualTo(claim);
        List<ClaimOutcome> outcomes = support.claimMany(
                        new ClaimBatch()
                                .claims(List.of(
                                        new ClaimItem()
                                                .user(name("bob"))
                                                .packet(closed.getId())
                                                .groups(groups),
                                        new ClaimItem().user(name("guest")).packet(closed.getId()))),
                        null)
                .getItems();
        assertThat(outcomes.get(0).getClaim()).isEqualTo(claim);
        assertThat(outcomes.get(1).getProblem().getReason()).isEqualTo("group");

        // When they are ended
        assertThat(support.cancelPacket(cancelled.getId()).getStatus()).isEqualTo(PacketStatus.CANCELLED);
        Packet over = support.closePacket(closed.getId());

        // Then
        assertThat(over.getStatus()).isEqualTo(PacketStatus.CLOSED);
        assertThat(over.getFile().getRefunded()).isEqualTo(150L - claim.getAmount());
        assertThat(over.getFile().getSentBy()).isEqualTo(name("shop"));
        assertThat(support.listPackets(group, null, PacketStatus.CLOSED, null, null, null, null, null, null, 10)
                        .getItems())
                .extracting(Packet::getId)
                .containsExactly(closed.getId());
        assertThat(support.listUserPackets(name("alice"), null, 10).getItems()).hasSize(2);
        assertThat(support.listUserClaims(name("bob"), null, null, 10).getItems())
                .hasSize(1);
        assertThat(support.getClaim(closed.getId(), "0")).isEqualTo(claim);

        // Given a draw
        Draw draw = new DrawsApi(client(null))
                .createDraw(
                        key(),
                        new DrawDefinition()
                                .name("Wheel")
                                .closesAt(LATER)
                                .mode(DrawMode.WEIGHTS)
                                .prizes(List.of(new Prize().name("thanks").weight(1L))));
        Play play = new DrawsApi(client("bob"))
                .play(draw.getId(), key(), null)
                .getItems()
                .get(0);

        // Then
        assertThat(support.listUserPlays(name("bob"), null, 10).getItems()).containsExactly(play);
        assertThat(support.getPlay(draw.getId(), "0")).isEqualTo(play);
        assertThat(new DrawsApi(client("bob"))
                        .listGroupDraws(group, null, null, 10)
                        .getItems())
                .isNotNull();
        assertThat(support.listDraws(DrawStatus.OPEN, null, null, null, 200).getItems())
                .extracting(DrawSummary::getId)
                .contains(draw.getId());

        // And plays for users
        PlayForUser forUser = new PlayForUser().draw(draw.getId());
        assertThat(support.playForUser(name("bob"), key(), forUser).getItems()).hasSize(1);
        PlayItem carls =
                new PlayItem().user(name("carl")).draw(draw.getId()).key(key()).plays(2);
        assertThat(support.playMany(new PlayBatch().plays(List.of(carls)))
                        .getItems()
                        .get(0)
                        .getPlays()
                        .getItems())
                .hasSize(2);
    }

    @Test
    void aRefusalIsAProblem() {
        ApiException refused =
                catchThrowableOfType(ApiException.class, () -> packets("bob").getPacket(UUID.randomUUID(), null));

        assertThat(refused.getCode()).isEqualTo(404);
        assertThat(refused.getResponseBody()).contains("/problems/not-found");
    }

    @Test
    void drawsFromTheDefinitionToTheExport() throws Exception {
        // Given a draw with most that a definition can say
        deposit("shop", 50L);
        DrawsApi shop = new DrawsApi(client(null));
        Draw draw = shop.createDraw(
                key(),
                new DrawDefinition()
                        .name("Wheel")
                        .group(group)
                        .closesAt(LATER)
                        .mode(DrawMode.SCHEDULE)
                        .schedule(new Schedule().periodSeconds(3_600).carryOver(true))
                        .prizes(List.of(new Prize()
                                .name("cash")
                                .category("big")
                                .picture("https://img.example.com/cash.png")
                                .text("In your wallet at once")
                                .award(new Award().asset("CNY").amount(5L))
                                .quota(1L)
                                .stock(10L)))
                        .fallback(new FallbackPrize().name("thanks"))
                        .guarantees(List.of(new Guarantee().category("big").plays(100)))
                        .limits(new PlayLimits().total(20L).perDay(20L).zone("Asia/Shanghai")));
        assertThat(draw.getClosesAt().toInstant()).isEqualTo("2035-01-01T00:00:00.123456Z");

        // When it is played, changed and ended
        DrawsApi player = new DrawsApi(client("bob"));
        Plays one = player.play(draw.getId(), key(), null);
        Plays ten = player.play(draw.getId(), key(), new PlayBody().plays(10));
        assertThat(one.getItems().get(0).getDraw()).isEqualTo(draw.getId());
        assertThat(ten.getItems()).hasSize(10);
        assertThat(player.listPlays(draw.getId(), null, 200).getItems()).hasSize(11);
        assertThat(player.getDraw(draw.getId()).getPlays()).isEqualTo(11L);
        Quota quota = new Quota().prize(1).period(7).quota(2);
        assertThat(shop.changeQuota(draw.getId(), quota)).isEqualTo(quota);
        assertThat(shop.listWins(draw.getId(), "big", FulfilmentState.DONE, null, 10)
                        .getItems())
                .isEmpty();
        shop.closeDraw(draw.getId());
        eventually(() -> shop.getDraw(draw.getId()).getStatus() == DrawStatus.CLOSED);

        // Then the table and the files are readable
        FinalTable table = shop.getDraw(draw.getId()).getFinalTable();
        assertThat(table.getChecked()).isTrue();
        assertThat(table.getPrizes()).hasSize(2);
        assertThat(lines(shop.exportPlays(draw.getId(), "csv"))).hasSize(12);
        assertThat(lines(shop.exportPlays(draw.getId(), "jsonl")))
                .filteredOn(line -> line.contains("\"seq\""))
                .hasSize(11);
    }

    @Test
    void aWonPrizeOnItsWay() throws Exception {
        // Given a phone that is won
        DrawsApi shop = new DrawsApi(client(null));
        UUID draw = shop.createDraw(
                        key(),
                        new DrawDefinition()
                                .name("Phones")
                                .closesAt(LATER)
                                .mode(DrawMode.TABLE)
                                .prizes(List.of(new Prize()
                                        .name("phone")
                                        .category("goods")
                                        .count(1L))))
                .getId();
        Play won =
                new DrawsApi(client("bob")).play(draw, key(), null).getItems().get(0);

        // When it is sent
        String seq = won.getSeq().toString();
        WonPrizeHistory sent = shop.changeFulfilment(
                draw, seq, new Fulfilment().state(FulfilmentState.SENT).note("SF 1"));

        // Then
        assertThat(sent.getHistory()).hasSize(1);
        assertThat(shop.getWin(draw, seq)).isEqualTo(sent);
        WonPrize listed = shop.listWins(draw, "goods", FulfilmentState.SENT, null, 10)
                .getItems()
                .get(0);
        assertThat(listed.getChanged()).isEqualTo(sent.getHistory().get(0));
        assertThat(listed.getState()).isEqualTo(FulfilmentState.SENT);
        assertThat(lines(shop.exportWins(draw, null, null, "csv"))).hasSize(2);
    }

    @Test
    void aUsersNameAndPicture() throws Exception {
        // Given
        AccountsApi shop = new AccountsApi(client(null));
        Profile ming = new Profile().displayName("小明").avatar("https://img.example.com/ming.png");

        // When
        StoredProfile stored = shop.putProfile(name("ming"), ming);

        // Then
        assertThat(stored.getDisplayName()).isEqualTo("小明");
        assertThat(stored.getGivenBy()).isEqualTo(StoredProfile.GivenByEnum.SERVICE);
        Packet packet = sendOneShare("ming");
        assertThat(packets("bob").getPacket(packet.getId(), null).getProfiles()).containsEntry(name("ming"), ming);
        shop.deleteProfile(name("ming"));
        assertThat(shop.getProfile(name("ming")).getDisplayName()).isNull();
    }

    @Test
    void campaignsFromTheBudgetToTheReport() throws Exception {
        // Given two campaigns, one with an amount, one with a range
        deposit("shop", 10_000L);
        CampaignsApi shop = new CampaignsApi(client(null));
        CampaignDefinition definition = new CampaignDefinition()
                .name("Spring")
                .asset("CNY")
                .budget(1_000L)
                .endsAt(OffsetDateTime.now().plusHours(1))
                .pool(new PoolShape().shares(2).amount(new PoolAmount(100L)).livesSeconds(60))
                .opening(new OpeningRules().poolsADay(2))
                .claiming(new ClaimingRules().total(3));
        Campaign campaign = shop.createCampaign(key(), definition);
        definition.getPool().amount(new PoolAmount(new AmountRange().from(10L).to(20L)));
        Campaign other = shop.createCampaign(key(), definition);

        // When a pool is opened and claimed
        CampaignsApi bob = new CampaignsApi(client("bob"));
        PoolOpening opening = new PoolOpening().product("sku-1").group(group);
        assertThat(bob.getCampaign(campaign.getId()).getPool().getShares()).isPositive();
        Packet pool = bob.openPool(campaign.getId(), key(), opening);
        assertThat(pool.getCampaign().getProduct()).isEqualTo("sku-1");
        assertThat(bob.openPool(other.getId(), key(), opening).getAmount()).isBetween(10L, 20L);
        packets("carol").claim(pool.getId(), null, null);
        assertThat(shop.raiseBudget(campaign.getId(), key(), new BudgetRaise().amount(500L))
                        .getBudget())
                .isEqualTo(1_500L);
        assertThat(shop.pauseCampaign(campaign.getId()).getPausedAt()).isNotNull();
        assertThat(shop.resumeCampaign(campaign.getId()).getPausedAt()).isNull();

        // Then it is listed, reported and ended
        assertThat(shop.getCampaign(campaign.getId()).getLeft()).isEqualTo(1_400L);
        assertThat(shop.listCampaigns(null, null, null, 10).getItems())
                .extracting(Campaign::getId)
                .contains(campaign.getId(), other.getId());
        assertThat(lines(shop.reportCampaign(campaign.getId(), "csv"))).hasSize(2);
        assertThat(shop.endCampaign(campaign.getId()).getStatus()).isNotEqualTo(Campaign.StatusEnum.OPEN);
    }

    @Test
    void rainsFromTheBudgetToTheCancelling() throws Exception {
        deposit("shop", 1_000L);
        RainsApi shop = new RainsApi(client(null));
        Rain rain = shop.createRain(
                key(),
                new RainDefinition()
                        .name("Eve")
                        .asset("CNY")
                        .budget(1_000L)
                        .groups(List.of(group))
                        .startsAt(LATER)
                        .durationSeconds(60)
                        .drops(5)
                        .sharesPerDrop(2)
                        .catchesPerUser(1));
        assertThat(new RainsApi(client("bob")).getRain(rain.getId()).getStatus())
                .isEqualTo(Rain.StatusEnum.PLANNED);
        assertThat(shop.listRains(null, null, null, 10).getItems())
                .extracting(Rain::getId)
                .contains(rain.getId());
        assertThat(new RainsApi(client("bob")).listCurrentRains(group).getItems())
                .extracting(Rain::getChannel)
                .contains(rain.getChannel());
        shop.cancelRain(rain.getId());
        eventually(() -> shop.getRain(rain.getId()).getStatus() == Rain.StatusEnum.ENDED);
        assertThat(shop.getRain(rain.getId()).getReturned()).isEqualTo(1_000L);
    }

    @Test
    void eventsAreToldApartByTheirType() throws Exception {
        // Given
        OutboxApi host = new OutboxApi(client(null));
        String latest = host.readOutbox("latest", 1, null).getNext();
        Packet packet = sendOneShare("alice");
        packets("bob").claim(packet.getId(), null, null);

        // Then
        eventually(() -> outbox(host, latest).stream().anyMatch(PacketOutboxEvent.class::isInstance));
        eventually(() -> outbox(host, latest).stream().anyMatch(ClaimOutboxEvent.class::isInstance));
        ClaimOutboxEvent told = outbox(host, latest).stream()
                .filter(ClaimOutboxEvent.class::isInstance)
                .map(ClaimOutboxEvent.class::cast)
                .findFirst()
                .orElseThrow();
        assertThat(told.getData().getUser()).isEqualTo(name("bob"));
        assertThat(outbox(host, latest)).anyMatch(TransferOutboxEvent.class::isInstance);
    }

    private static List<Object> outbox(OutboxApi host, String after) throws ApiException {
        return host.readOutbox(after, 100, "wait=1").getItems().stream()
                .map(OutboxEvent::getActualInstance)
                .collect(Collectors.toList());
    }

    @Test
    void webhooksFromTheFirstToTheLast() throws Exception {
        OutboxApi host = new OutboxApi(client(null));

        Webhook made = host.createWebhook(key(), new NewWebhook().url("https://example.com/hook"));
        UUID id = made.getId();
        assertThat(made.getTypes()).contains(OutboxEventType.CLAIM_SETTLED);
        assertThat(host.rotateWebhookSecret(id, key()).getSecret()).isNotEqualTo(made.getSecret());
        assertThat(host.getWebhook(id).getUrl()).isEqualTo("https://example.com/hook");
        assertThat(host.listWebhooks().getItems()).extracting(Webhook::getId).contains(id);
        assertThat(host.listWebhookDeliveries(id, null, 10).getItems()).isEmpty();
        assertThat(host.redeliverWebhook(id, key(), null).getId()).isEqualTo(id);
        Webhook changed = host.changeWebhook(id, new WebhookChange().batch(7).paused(true));
        assertThat(changed.getBatch()).isEqualTo(7);
        assertThat(changed.getStatus()).isEqualTo(Webhook.StatusEnum.PAUSED);
        assertThat(host.testWebhook(id).getDelivered()).isFalse();
        host.deleteWebhook(id);
        assertThat(host.listWebhooks().getItems()).extracting(Webhook::getId).doesNotContain(id);
    }

    @Test
    void assetsAreDeclaredAndListed() throws Exception {
        AssetsApi shop = new AssetsApi(client(null));
        AssetTerms declared = shop.declareAsset(new AssetDeclaration()
                .code("COUPON-TEA")
                .scale(0)
                .symbol("茶券")
                .senders(Senders.SERVICE)
                .caps(new AssetCaps().packet(1_000L).share(200L)));

        assertThat(declared.getCaps().getShare()).isEqualTo(200L);
        AssetsApi bob = new AssetsApi(client("bob"));
        assertThat(bob.getAsset("COUPON-TEA")).isEqualTo(declared);
        assertThat(bob.listAssets(null, 200).getItems())
                .extracting(AssetTerms::getCode)
                .contains("CNY", "COUPON-TEA");
    }

    @Test
    void theBooksAreRead() throws Exception {
        deposit("alice", 500L);
        OffsetDateTime yesterday = OffsetDateTime.now().minusDays(1);
        BooksApi auditor = new BooksApi(client(null));

        BookedTransfer booked = auditor.searchTransfers(null, name("alice"), null, yesterday, null, null, 10)
                .getItems()
                .get(0);
        assertThat(booked.getCredit().getOwner()).isEqualTo(name("alice"));
        Statement statement = auditor.getStatement(name("alice"), "CNY", yesterday, null, null);
        assertThat(statement.getItems()).isNotEmpty();
        assertThat(auditor.listOpenItems(null, 10).getItems()).hasSizeLessThanOrEqualTo(10);
        assertThat(lines(auditor.totalTransfers(
                        yesterday.toLocalDate().toString(),
                        yesterday.toLocalDate().plusDays(3).toString(),
                        "csv")))
                .hasSizeGreaterThan(1);
    }

    @Test
    void usersAndGroupsAreRestricted() throws Exception {
        RestrictionsApi host = new RestrictionsApi(client(null));
        RestrictionReason why = new RestrictionReason().reason("a stolen phone");

        assertThat(host.freezeUser(name("eve"), why).getFrozen().getReason()).isEqualTo("a stolen phone");
        assertThat(host.listRestrictions(null, null, null, null, 200).getItems())
                .extracting(RestrictionChange::getId)
                .contains(name("eve"));
        assertThat(host.unfreezeUser(name("eve"), why).getFrozen()).isNull();
        assertThat(host.blockUser(name("eve"), why).getBlocked()).isNotNull();
        host.unblockUser(name("eve"), why);
        assertThat(host.getUser(name("eve")).getBlocked()).isNull();
        assertThat(host.blockGroup("noisy", why).getBlocked()).isTrue();
        assertThat(host.unblockGroup("noisy", why).getBlocked()).isFalse();
    }

    @Test
    void aUsersTokensAreRevoked() throws Exception {
        RestrictionsApi host = new RestrictionsApi(client(null));
        MeApi thief = new MeApi(client("gil"));

        Revocation revoked = host.revokeTokens(name("gil"), key(), null);

        assertThat(catchThrowableOfType(ApiException.class, () -> thief.getMyBalances())
                        .getCode())
                .isEqualTo(401);
        assertThat(host.revokeTokens(name("gil"), key(), new Revoke().reason("again"))
                        .getNotBefore())
                .isAfterOrEqualTo(revoked.getNotBefore());
        assertThat(host.getUser(name("gil")).getRevoked().getBy()).isEqualTo(name("shop"));
    }

    @Test
    void theDemoIsOffWhereTokensAreConfigured() throws Exception {
        DemoApi visitor = new DemoApi(client("bob"));

        assertThat(visitor.getDemo().getOpen()).isFalse();
        assertThat(catchThrowableOfType(ApiException.class, () -> visitor.loginToDemo(new DemoLogin().member("alice")))
                        .getCode())
                .isEqualTo(404);
    }

    private static List<String> lines(File file) throws Exception {
        List<String> lines = Files.readAllLines(file.toPath());
        Files.delete(file.toPath());
        return lines;
    }
}
