// A client that was generated from the contract, as it comes, calls every call of a server: GeneratedTypeScriptIT starts it with
// SERVER, SECRET (of the tokens, base64), and CALLED, the file into which it writes what it called.
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import * as hongbao from './generated/index.js';

const { SERVER = '', SECRET = '', CALLED = '' } = process.env;
const run = randomUUID().slice(0, 8);
const group = `group-${run}`;
const later = new Date('2035-01-01T00:00:00.123Z');
const called = new Set<string>();

after(() => writeFileSync(CALLED, [...called].join('\n')));

const name = (user: string) => `${user}-${run}`;
const key = () => randomUUID();

function token(user: string, role: 'user' | 'service'): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 300;
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: name(user), groups: [group], role, exp })}`;
  return `${signed}.${createHmac('sha256', Buffer.from(SECRET, 'base64')).update(signed).digest('base64url')}`;
}

/** A client of one user, or of the host when nobody is named. */
function as(user?: string): hongbao.Configuration {
  return new hongbao.Configuration({
    basePath: SERVER,
    accessToken: token(user ?? 'shop', user ? 'user' : 'service'),
    middleware: [{
      pre: async ({ url, init }) => {
        called.add(`${init.method} ${new URL(url).pathname}`);
      },
    }],
  });
}

const packets = (user: string) => new hongbao.PacketsApi(as(user));
const deposit = (user: string, amount: number) =>
  new hongbao.AccountsApi(as()).deposit({ user: name(user), idempotencyKey: key(), money: { asset: 'CNY', amount } });

/** Asks again, for ten seconds at the most, until what is asked for is there. */
async function eventually<T>(ask: () => Promise<T | false | undefined>): Promise<T> {
  for (const end = Date.now() + 10_000; ;) {
    const found = await ask();
    if (found) return found;
    assert(Date.now() < end, 'ten seconds have passed');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('packets and money', async () => {
  // Given money, and a feed
  const accounts = new hongbao.AccountsApi(as());
  assert.equal((await deposit('alice', 1_000)).kind, 'deposit');
  const start = await packets('bob').listEvents({ group });
  assert.equal(start.reset?.reason, 'start');

  // When a packet is sent with lists that are empty, and claimed without a body
  const packet = await packets('alice').sendPacket({
    idempotencyKey: key(),
    send: { group, kind: 'lucky', asset: 'CNY', amount: 300, count: 2, greeting: '恭喜发财', recipients: new Set() },
  });
  const first = await packets('bob').claim({ packet: packet.id });
  const again = await packets('bob').claim({ packet: packet.id, prefer: 'respond-async', claimBody: {} });
  await packets('carol').claim({ packet: packet.id });

  // Then every view says so
  assert.equal(first.status, 'settled');
  assert.deepEqual(again, first);
  const over = await packets('bob').getPacket({ packet: packet.id });
  assert.equal(over.status, 'drained');
  assert.deepEqual(over.mine, first);
  assert.equal(over.claimed.amount, 300);
  const claims = await packets('bob').listClaims({ packet: packet.id, limit: 10 });
  assert.equal(claims.items.length, 2);
  assert.deepEqual(claims.luckiest, over.luckiest);
  const me = new hongbao.MeApi(as('bob'));
  assert.deepEqual((await me.listMyClaims({})).items.map((claim) => claim.packet), [packet.id]);
  assert.deepEqual((await me.getMyBalances()).items, [{ asset: 'CNY', amount: first.amount, amountText: String(first.amount) }]);
  assert.equal((await me.listMyTransfers({})).items.length, 1);
  assert.equal((await me.getMySummary({})).received[0].amount, first.amount);
  assert.deepEqual((await new hongbao.MeApi(as('alice')).listMyPackets({})).items.map(({ id }) => id), [packet.id]);
  await accounts.withdraw({ user: name('alice'), idempotencyKey: key(), money: { asset: 'CNY', amount: 700 } });
  assert.equal((await accounts.getUserBalances({ user: name('alice') })).items[0].amount, 0);
  assert.equal((await accounts.listUserTransfers({ user: name('alice') })).items.length, 3);

  // And each event is of its own type, which the compiler knows
  const events = await eventually(async () => {
    const { items } = await packets('bob').listEvents({ group, after: start.next, prefer: 'wait=1' });
    return items.some(({ type }) => type === 'packet.drained') && items;
  });
  const [sent] = events;
  assert(sent.type === 'packet.sent');
  assert.equal(sent.data.packet.greeting, '恭喜发财');
  assert(sent.data.packet.createdAt instanceof Date);
  const end = events.find((event) => event.type === 'packet.drained');
  assert(end?.type === 'packet.drained');
  assert.equal(end.data.claimed.amount, 300);
  assert.equal(end.data.luckiest?.slot, over.luckiest?.slot);
});

test('a refusal is a problem', async () => {
  const refused: hongbao.ResponseError = await packets('bob').getPacket({ packet: randomUUID() }).then(() => assert.fail('it is not refused'), (error) => error);

  assert.equal(refused.response.status, 404);
  const problem = hongbao.ProblemFromJSON(await refused.response.json());
  assert.match(problem.type, /\/problems\/not-found$/);
});

test('draws, from the definition to the export', async () => {
  // Given a draw with most that a definition can say
  await deposit('shop', 50);
  const shop = new hongbao.DrawsApi(as());
  const { id: draw, closesAt } = await shop.createDraw({
    idempotencyKey: key(),
    drawDefinition: {
      name: 'Wheel',
      group,
      closesAt: later,
      mode: 'schedule',
      schedule: { periodSeconds: 3_600, carryOver: true },
      prizes: [{ name: 'cash', category: 'big', award: { asset: 'CNY', amount: 5 }, quota: 1, stock: 10 }],
      fallback: { name: 'thanks' },
      guarantees: [{ category: 'big', plays: 100 }],
      limits: { total: 20, perDay: 20, zone: 'Asia/Shanghai' },
    },
  });
  assert.deepEqual(closesAt, later);

  // When it is played, changed and ended
  const player = new hongbao.DrawsApi(as('bob'));
  const one = await player.play({ draw, idempotencyKey: key() });
  const ten = await player.play({ draw, idempotencyKey: key(), playBody: { plays: 10 } });
  assert.equal(one.items[0].draw, draw);
  assert.equal(ten.items.length, 10);
  assert.equal((await player.listPlays({ draw, limit: 200 })).items.length, 11);
  assert.equal((await player.getDraw({ draw })).plays, 11);
  const quota = { prize: 1, period: 7, quota: 2 };
  assert.deepEqual(await shop.changeQuota({ draw, quota }), quota);
  await shop.closeDraw({ draw });
  const closed = await eventually(async () => {
    const now = await shop.getDraw({ draw });
    return now.status === 'closed' && now;
  });

  // Then the table and the files are readable
  assert.equal(closed.finalTable?.checked, true);
  assert.equal(closed.finalTable.prizes.length, 2);
  assert.equal((await lines(shop.exportPlays({ draw, format: 'csv' }))).length, 12);
  const exported = await lines(shop.exportPlays({ draw, format: 'jsonl' }));
  assert.equal(exported.filter((line) => line.includes('"seq"')).length, 11);
});

test('campaigns, from the budget to the report', async () => {
  // Given two campaigns, one with an amount, one with a range
  await deposit('shop', 10_000);
  const shop = new hongbao.CampaignsApi(as());
  const definition: hongbao.CampaignDefinition = {
    name: 'Spring',
    asset: 'CNY',
    budget: 1_000,
    endsAt: new Date(Date.now() + 3_600_000),
    pool: { shares: 2, amount: 100, livesSeconds: 60 },
    opening: { poolsADay: 2 },
    claiming: { total: 3 },
  };
  const { id: campaign } = await shop.createCampaign({ idempotencyKey: key(), campaignDefinition: definition });
  const { id: other } = await shop.createCampaign({
    idempotencyKey: key(),
    campaignDefinition: { ...definition, pool: { ...definition.pool, amount: { from: 10, to: 20 } } },
  });

  // When a pool is opened and claimed
  const bob = new hongbao.CampaignsApi(as('bob'));
  const poolOpening = { product: 'sku-1', group };
  const seen = await bob.getCampaign({ campaign });
  assert.equal(seen.left, undefined);
  assert(seen.pool && seen.pool.shares > 0);
  const pool = await bob.openPool({ campaign, idempotencyKey: key(), poolOpening });
  assert.equal(pool.campaign?.product, 'sku-1');
  const ranged = await bob.openPool({ campaign: other, idempotencyKey: key(), poolOpening });
  assert(ranged.amount >= 10 && ranged.amount <= 20);
  await packets('carol').claim({ packet: pool.id });
  const raised = await shop.raiseBudget({ campaign, idempotencyKey: key(), budgetRaise: { amount: 500 } });
  assert.equal(raised.budget, 1_500);
  assert((await shop.pauseCampaign({ campaign })).pausedAt instanceof Date);
  assert.equal((await shop.resumeCampaign({ campaign })).pausedAt, null);

  // Then it is listed, reported and ended
  assert.equal((await shop.getCampaign({ campaign })).left, 1_400);
  const listed = (await shop.listCampaigns({})).items.map(({ id }) => id);
  assert(listed.includes(campaign) && listed.includes(other));
  assert.equal((await lines(shop.reportCampaign({ campaign, format: 'csv' }))).length, 2);
  assert.notEqual((await shop.endCampaign({ campaign })).status, 'open');
});

test('rains, from the budget to the cancelling', async () => {
  await deposit('shop', 1_000);
  const shop = new hongbao.RainsApi(as());
  const { id: rain } = await shop.createRain({
    idempotencyKey: key(),
    rainDefinition: {
      name: 'Eve',
      asset: 'CNY',
      budget: 1_000,
      groups: [group],
      startsAt: later,
      durationSeconds: 60,
      drops: 5,
      sharesPerDrop: 2,
      catchesPerUser: 1,
    },
  });
  assert.equal((await new hongbao.RainsApi(as('bob')).getRain({ rain })).status, 'planned');
  assert((await shop.listRains({})).items.some(({ id }) => id === rain));
  assert((await new hongbao.RainsApi(as('bob')).listCurrentRains({ group })).items.some(({ id }) => id === rain));
  await shop.cancelRain({ rain });
  const ended = await eventually(async () => {
    const now = await shop.getRain({ rain });
    return now.status === 'ended' && now;
  });
  assert.equal(ended.returned, 1_000);
});

test('events are told apart by their type', async () => {
  // Given
  const host = new hongbao.OutboxApi(as());
  const { next: latest } = await host.readOutbox({ after: 'latest', limit: 1 });
  await deposit('alice', 100);
  const packet = await packets('alice').sendPacket({
    idempotencyKey: key(),
    send: { group, kind: 'equal', asset: 'CNY', amount: 100, count: 1 },
  });
  await packets('bob').claim({ packet: packet.id });

  // Then
  const told = await eventually(async () => {
    const { items } = await host.readOutbox({ after: latest, limit: 100, prefer: 'wait=1' });
    const own = items.filter((event) => !('user' in event.data) || event.data.user!.endsWith(run));
    return own.some(({ type }) => type === 'packet.sent') && own.some(({ type }) => type === 'claim.settled') && own;
  });
  const claim = told.find((event) => event.type === 'claim.settled');
  assert(claim?.type === 'claim.settled');
  assert.equal(claim.data.user, name('bob'));
  assert(told.some(({ type }) => type === 'transfer.deposit'));
});

test('webhooks, from the first to the last', async () => {
  const host = new hongbao.OutboxApi(as());
  const url = 'https://example.com/hook';

  const made = await host.createWebhook({ idempotencyKey: key(), newWebhook: { url } });
  const webhook = made.id;
  assert(made.types.includes('claim.settled'));
  assert.notEqual((await host.rotateWebhookSecret({ webhook, idempotencyKey: key() })).secret, made.secret);
  assert.equal((await host.getWebhook({ webhook })).url, url);
  assert((await host.listWebhooks()).items.some(({ id }) => id === webhook));
  assert.deepEqual((await host.listWebhookDeliveries({ webhook })).items, []);
  assert.equal((await host.redeliverWebhook({ webhook, idempotencyKey: key() })).id, webhook);
  const changed = await host.changeWebhook({ webhook, webhookChange: { batch: 7, paused: true } });
  assert.equal(changed.batch, 7);
  assert.equal(changed.status, 'paused');
  assert.equal((await host.testWebhook({ webhook })).delivered, false);
  await host.deleteWebhook({ webhook });
  assert(!(await host.listWebhooks()).items.some(({ id }) => id === webhook));
});

test('the demo is off where tokens are configured', async () => {
  const visitor = new hongbao.DemoApi(as('bob'));

  assert.equal((await visitor.getDemo()).open, false);
  await assert.rejects(visitor.loginToDemo({ demoLogin: { member: 'alice' } }), /Response returned an error code/);
});

test('who did what, from the reference to the reversal', async () => {
  const audit = new hongbao.AuditApi(as());
  const reference = `order-${group}`;
  const money = { asset: 'CNY', amount: 100, reference, reason: 'Paid by card' };
  const into = await new hongbao.AccountsApi(as()).deposit({ user: name('alice'), idempotencyKey: key(), money });

  const back = await audit.reverseTransfer({
    user: name('alice'), transfer: into.id, idempotencyKey: key(), reversalBody: { reason: 'Paid twice' },
  });

  assert.equal(back.kind, 'reversal');
  assert.equal(back.reverses, into.id);
  assert(into.command);
  const command = await audit.getCommand({ command: into.command });
  assert.equal(command.actor.role, 'service');
  assert.deepEqual((await audit.listCommands({ reference })).items, [command]);
  const from = new Date(Date.now() - 3_600_000);
  assert((await audit.listAuditLog({ from, limit: 200 })).items.length > 0);
  assert((await lines(audit.exportAuditLog({ from, format: 'csv' }))).length > 2);
});

test('what support sees and does', async () => {
  // Given deposits for many, and packets that are sent for a user
  const support = new hongbao.SupportApi(as());
  const deposited = await support.depositMany({
    idempotencyKey: key(),
    depositBatch: {
      deposits: [{ user: name('alice'), asset: 'CNY', amount: 300 }, { user: name('bob'), asset: 'CNY', amount: 1, reference: 'bonus' }],
    },
  });
  assert.deepEqual(deposited.items.map(({ amount }) => amount), [300, 1]);
  const send = { group, kind: 'lucky', asset: 'CNY', amount: 150, count: 2 } as const;
  const cancelled = await support.sendPacketForUser({ user: name('alice'), idempotencyKey: key(), send });
  const closed = await support.sendPacketForUser({ user: name('alice'), idempotencyKey: key(), send });
  const claim = await packets('bob').claim({ packet: closed.id });

  // Given claims for users
  const forUser = { packet: closed.id, groups: [group] };
  assert.deepEqual(await support.claimForUser({ user: name('bob'), claimForUser: forUser }), claim);
  const claims = { claims: [{ user: name('bob'), ...forUser }, { user: name('guest'), packet: closed.id }] };
  const [again, refused] = (await support.claimMany({ claimBatch: claims })).items;
  assert.deepEqual(again.claim, claim);
  assert.equal(refused.problem?.reason, 'group');

  // When they are ended, then it is seen
  assert.equal((await support.cancelPacket({ packet: cancelled.id })).status, 'cancelled');
  assert.equal((await support.closePacket({ packet: closed.id })).status, 'closed');
  assert((await support.listPackets({ group, status: 'closed' })).items.some(({ id }) => id === closed.id));
  assert((await support.listUserPackets({ user: name('alice') })).items.length >= 2);
  assert((await support.listUserClaims({ user: name('bob') })).items.some(({ packet }) => packet === closed.id));
  assert.deepEqual(await support.getClaim({ packet: closed.id, slot: '0' }), claim);
  const { id: draw } = await new hongbao.DrawsApi(as()).createDraw({
    idempotencyKey: key(),
    drawDefinition: { name: 'Wheel', closesAt: later, mode: 'weights', prizes: [{ name: 'thanks', weight: 1 }] },
  });
  const [play] = (await new hongbao.DrawsApi(as('bob')).play({ draw, idempotencyKey: key() })).items;
  assert((await support.listUserPlays({ user: name('bob') })).items.some((one) => one.draw === draw));
  assert.equal((await support.playForUser({ user: name('bob'), idempotencyKey: key(), playForUser: { draw } })).items.length, 1);
  const many = await support.playMany({ playBatch: { plays: [{ user: name('carl'), draw, key: key(), plays: 2 }] } });
  assert.equal(many.items[0].plays?.items.length, 2);
  assert.deepEqual(await support.getPlay({ draw, seq: '0' }), play);
  assert((await support.listDraws({ status: 'open', limit: 200 })).items.some(({ id }) => id === draw));
  const ofGroup = await new hongbao.DrawsApi(as('bob')).listGroupDraws({ group });
  assert(ofGroup.items.every(({ id }) => id));
});

test('a won prize on its way', async () => {
  const shop = new hongbao.DrawsApi(as());
  const { id: draw } = await shop.createDraw({
    idempotencyKey: key(),
    drawDefinition: { name: 'Phones', closesAt: later, mode: 'table', prizes: [{ name: 'phone', category: 'goods', count: 1 }] },
  });
  const [won] = (await new hongbao.DrawsApi(as('bob')).play({ draw, idempotencyKey: key() })).items;
  const seq = String(won.seq);

  const sent = await shop.changeFulfilment({ draw, seq, fulfilment: { state: 'sent', note: 'SF 1' } });

  assert.equal(sent.history.length, 1);
  assert.deepEqual(await shop.getWin({ draw, seq }), sent);
  assert.equal((await shop.listWins({ draw, category: 'goods', state: 'sent' })).items[0].state, 'sent');
  assert.equal((await lines(shop.exportWins({ draw, format: 'csv' }))).length, 2);
});

test("a user's name and picture", async () => {
  const shop = new hongbao.AccountsApi(as());
  const profile = { displayName: '小明', avatar: 'https://img.example.com/ming.png' };

  const stored = await shop.putProfile({ user: name('ming'), profile });

  assert.equal(stored.displayName, '小明');
  assert.equal((await shop.getProfile({ user: name('ming') })).avatar, profile.avatar);
  await shop.deleteProfile({ user: name('ming') });
  assert.equal((await shop.getProfile({ user: name('ming') })).displayName, null);
});

test('assets are declared and listed', async () => {
  const assetDeclaration = { code: 'COUPON-TEA', scale: 0, symbol: '茶券', senders: 'service', caps: { packet: 1_000, share: 200 } } as const;
  const declared = await new hongbao.AssetsApi(as()).declareAsset({ assetDeclaration });
  const bob = new hongbao.AssetsApi(as('bob'));
  assert.equal(declared.caps.share, 200);
  assert.deepEqual(await bob.getAsset({ asset: 'COUPON-TEA' }), declared);
  assert((await bob.listAssets({ limit: 200 })).items.some(({ code }) => code === 'CNY'));
});

test('the books are read', async () => {
  await deposit('alice', 500);
  const from = new Date(Date.now() - 86_400_000);
  const auditor = new hongbao.BooksApi(as());
  const [booked] = (await auditor.searchTransfers({ user: name('alice'), from, limit: 10 })).items;
  assert.equal(booked.credit.owner, name('alice'));
  assert((await auditor.getStatement({ user: name('alice'), asset: 'CNY', from })).items.length > 0);
  assert((await auditor.listOpenItems({ limit: 10 })).items.length <= 10);
  const day = (after: number) => new Date(from.getTime() + after * 86_400_000).toISOString().slice(0, 10);
  assert((await lines(auditor.totalTransfers({ from: day(0), to: day(3), format: 'csv' }))).length > 1);
});

test('users and groups are restricted', async () => {
  const host = new hongbao.RestrictionsApi(as());
  const restrictionReason = { reason: 'a stolen phone' };
  const user = name('eve');
  assert.equal((await host.freezeUser({ user, restrictionReason })).frozen?.reason, 'a stolen phone');
  assert((await host.listRestrictions({ limit: 200 })).items.some(({ id }) => id === user));
  assert.equal((await host.unfreezeUser({ user, restrictionReason })).frozen, null);
  assert((await host.blockUser({ user, restrictionReason })).blocked);
  await host.unblockUser({ user, restrictionReason });
  assert.equal((await host.getUser({ user })).blocked, null);
  assert.equal((await host.blockGroup({ group: 'noisy', restrictionReason })).blocked, true);
  assert.equal((await host.unblockGroup({ group: 'noisy', restrictionReason })).blocked, false);
});

test('the tokens of a user are revoked', async () => {
  const host = new hongbao.RestrictionsApi(as());
  const user = name('gil');
  const revoked = await host.revokeTokens({ user, idempotencyKey: key(), revoke: { reason: 'a stolen phone' } });
  assert(revoked.notBefore >= new Date(Date.now() - 60_000));
  assert.equal((await host.getUser({ user })).revoked?.reason, 'a stolen phone');
});

async function lines(file: Promise<Blob>): Promise<string[]> {
  return (await (await file).text()).trimEnd().split('\n');
}
