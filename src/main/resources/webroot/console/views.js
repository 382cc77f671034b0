/**
 * What the console shows: a table of views, each with the calls that it asks. A call that the server does not have is left out, and
 * a view that has none of its calls. Columns are given where the order matters; else all fields are shown.
 *
 * A view has an `index`, and for `one` thing, which `find` names, panels that are asked with its id. A panel asks `call`; a `list` has
 * `items`, or answers `lines`, and `rows` is what can be done with each. One that
 * must `ask` waits for what is searched for, and `needs` some of it. An action asks `call` with the ids of where it stands, unless it has `ids`.
 * @module
 */

const PRIZE_DRAW = () => ({
  name: 'Lucky wheel',
  closesAt: inDays(7),
  mode: 'table',
  whenExhausted: 'repeat',
  prizes: [{ name: 'cash', count: 1, stock: 100, award: { asset: 'CNY', amount: 888 } }, { name: 'thanks', count: 9 }],
});

const CAMPAIGN = () => ({
  name: 'Spring shoes',
  asset: 'POINTS',
  budget: 100000,
  endsAt: inDays(7),
  pool: { shares: 10, amount: { from: 500, to: 2000 }, livesSeconds: 86400 },
  opening: { onePerProduct: true, poolsADay: 5 },
  claiming: { total: 3 },
});

const RAIN = () => ({
  name: 'Evening rain',
  asset: 'POINTS',
  budget: 10000,
  everyone: true,
  startsAt: inDays(1),
  durationSeconds: 30,
  drops: 20,
  sharesPerDrop: 10,
  catchesPerUser: 3,
});

function inDays(days) {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}

const SIMULATE = { name: 'simulate', call: 'POST /manage/simulations', show: 'simulated', draft: { name: 'draw', make: PRIZE_DRAW, wrap: (definition) => ({ definition }) } };
const PACKET = ['id', 'sender', 'group', 'kind', 'amount', 'count', 'claimed.count', 'status', 'createdAt', 'expiresAt'];
const REVERSE = {
  name: 'reverse',
  call: 'POST /v1/accounts/{}/transfers/{}/reverse',
  danger: true,
  ids: (row, ids) => [ids[0] ?? row.user, row.id],
  when: (row) => ['deposit', 'withdrawal', 'claim', 'award'].includes(row.kind) && !row.reversedBy,
};
const TRANSFER = ['id', 'kind', 'direction', 'amount', 'at', 'packet', 'draw', 'campaign', 'command', 'reference', 'reason', 'reversedBy'];
/** In the books it is not said whose transfer it is, nor whether it is reversed: the server refuses then. */
const REVERSE_BOOKED = {
  ...REVERSE,
  ids: (row) => [row[row.kind === 'withdrawal' ? 'debit' : 'credit'].owner, row.id],
};

const DEPOSITS = () => ({ deposits: [{ user: 'alice', asset: 'CNY', amount: 888, reference: 'order-1', reason: 'spring' }] });

/** An asset's declaration, to be changed. */
function declared(row) {
  const caps = Object.entries(row.caps).filter(([, cap]) => cap !== null).map(([name, cap]) => [`caps.${name}`, String(cap)]);
  return { code: row.code, scale: String(row.scale), symbol: row.symbol, senders: row.senders, ...Object.fromEntries(caps) };
}

function isOpen(packet) {
  return packet.status === 'open';
}

function files(call) {
  return [{ call, format: 'csv', type: 'text/csv' }, { call, format: 'jsonl', type: 'application/jsonl' }];
}

/** @type {{name: string, find?: string, index: object[], one?: object[]}[]} */
export const VIEWS = [
  {
    name: 'overview',
    index: [
      { name: 'now', kind: 'overview' },
      { name: 'turnover', list: true, call: 'GET /manage/turnover', columns: ['kind', 'asset', 'transfers', 'amount'] },
      { name: 'servers', list: true, call: 'GET /manage/servers', columns: ['server', 'address', 'since', 'shards'] },
      { name: 'quarantine', list: true, call: 'GET /manage/quarantine', columns: ['id', 'kind', 'shard', 'since', 'reason'] },
    ],
  },
  {
    name: 'users',
    find: 'user',
    index: [
      { name: 'everybody', list: true, call: 'GET /manage/users', columns: ['user', 'wallets'] },
      {
        name: 'restrictions',
        list: true,
        call: 'GET /v1/restrictions',
        columns: ['of', 'id', 'kind', 'change', 'inForce', 'reason', 'by', 'at'],
        open: (row) => `${row.of}s`,
      },
      { name: 'deposits', kind: 'doing', actions: [{ name: 'depositMany', call: 'POST /v1/deposits', show: 'deposited', danger: true, draft: { name: 'deposits', make: DEPOSITS } }] },
    ],
    one: [
      {
        name: 'user',
        call: 'GET /v1/users/{}',
        actions: [
          { name: 'freeze', call: 'POST /v1/users/{}/freeze', danger: true, when: (it) => !it.frozen },
          { name: 'unfreeze', call: 'POST /v1/users/{}/unfreeze', when: (it) => it.frozen },
          { name: 'block', call: 'POST /v1/users/{}/block', danger: true, when: (it) => !it.blocked },
          { name: 'unblock', call: 'POST /v1/users/{}/unblock', when: (it) => it.blocked },
          { name: 'revokeTokens', call: 'POST /v1/users/{}/revoke-tokens', danger: true },
        ],
      },
      {
        name: 'profile',
        call: 'GET /v1/users/{}/profile',
        actions: [
          { name: 'profile', call: 'PUT /v1/users/{}/profile', fill: (it) => ({ displayName: it.displayName ?? '', avatar: it.avatar ?? '' }) },
          { name: 'deleteProfile', call: 'DELETE /v1/users/{}/profile', danger: true, when: (it) => it.givenBy },
        ],
      },
      {
        name: 'balances',
        list: true,
        call: 'GET /v1/accounts/{}/balances',
        columns: ['asset', 'amount'],
        actions: [{ name: 'deposit', call: 'POST /v1/accounts/{}/deposits' }, { name: 'withdraw', call: 'POST /v1/accounts/{}/withdrawals', danger: true }],
      },
      { name: 'transfers', list: true, call: 'GET /v1/accounts/{}/transfers', columns: TRANSFER, rows: [REVERSE] },
      {
        name: 'statement',
        ask: true,
        needs: ['asset'],
        call: 'GET /v1/users/{}/statement',
        columns: ['id', ...TRANSFER.slice(1), 'reverses'],
        files: [{ call: 'GET /v1/users/{}/statement', format: 'csv', type: 'text/csv' }],
      },
      { name: 'sent', list: true, call: 'GET /v1/users/{}/packets', columns: PACKET, open: 'packets', actions: [{ name: 'sendFor', call: 'POST /v1/users/{}/packets', danger: true }] },
      { name: 'claims', list: true, call: 'GET /v1/users/{}/claims' },
      { name: 'plays', list: true, call: 'GET /v1/users/{}/plays' },
    ],
  },
  {
    name: 'groups',
    find: 'group',
    index: [],
    one: [
      { name: 'group', kind: 'doing', actions: [{ name: 'block', call: 'POST /v1/groups/{}/block', danger: true }, { name: 'unblock', call: 'POST /v1/groups/{}/unblock' }] },
    ],
  },
  {
    name: 'packets',
    find: 'packet',
    index: [{ name: 'packets', list: true, call: 'GET /v1/packets', columns: PACKET, open: 'packets' }],
    one: [
      {
        name: 'packet',
        call: 'GET /v1/packets/{}',
        actions: [{ name: 'cancelPacket', call: 'POST /v1/packets/{}/cancel', danger: true, when: isOpen }, { name: 'closePacket', call: 'POST /v1/packets/{}/close', danger: true, when: isOpen }],
      },
      { name: 'claims', list: true, call: 'GET /v1/packets/{}/claims', columns: ['slot', 'user', 'amount', 'status', 'at'] },
    ],
  },
  {
    name: 'draws',
    find: 'draw',
    index: [
      { name: 'makeDraw', kind: 'doing', actions: [{ name: 'makeDraw', call: 'POST /v1/draws', show: 'made', draft: { name: 'draw', make: PRIZE_DRAW } }, SIMULATE] },
      { name: 'draws', list: true, call: 'GET /v1/draws', columns: ['id', 'name', 'owner', 'mode', 'status', 'opensAt', 'closesAt'], open: 'draws' },
    ],
    one: [
      {
        name: 'draw',
        call: 'GET /v1/draws/{}',
        files: files('GET /v1/draws/{}/export'),
        actions: [{ name: 'quota', call: 'POST /v1/draws/{}/quotas' }, { name: 'closeDraw', call: 'POST /v1/draws/{}/close', danger: true }],
      },
      {
        name: 'wins',
        list: true,
        call: 'GET /v1/draws/{}/wins',
        columns: ['seq', 'user', 'prize', 'category', 'amount', 'code', 'state', 'changed.note', 'at'],
        files: files('GET /v1/draws/{}/wins/export'),
        rows: [{ name: 'fulfil', call: 'PUT /v1/draws/{}/wins/{}/fulfilment', ids: (row, ids) => [ids[0], String(row.seq)], fill: (row) => ({ state: row.state, note: row.changed?.note ?? '' }), when: (row) => row.amount === undefined }],
      },
      { name: 'plays', list: true, call: 'GET /v1/draws/{}/plays', columns: ['seq', 'user', 'prize', 'category', 'amount', 'code', 'state', 'at'] },
    ],
  },
  {
    name: 'campaigns',
    find: 'campaign',
    index: [
      {
        name: 'campaigns',
        list: true,
        call: 'GET /v1/campaigns',
        columns: ['id', 'name', 'status', 'budget', 'left', 'opensAt', 'endsAt'],
        open: 'campaigns',
        actions: [{ name: 'makeCampaign', call: 'POST /v1/campaigns', draft: { name: 'campaign', make: CAMPAIGN } }],
      },
    ],
    one: [
      {
        name: 'campaign',
        call: 'GET /v1/campaigns/{}',
        files: files('GET /v1/campaigns/{}/report'),
        actions: [
          { name: 'pause', call: 'POST /v1/campaigns/{}/pause', when: (it) => ['open', 'planned'].includes(it.status) },
          { name: 'resume', call: 'POST /v1/campaigns/{}/resume', when: (it) => it.status === 'paused' },
          { name: 'budget', call: 'POST /v1/campaigns/{}/budget', when: (it) => ['open', 'planned', 'paused'].includes(it.status) },
          { name: 'endCampaign', call: 'POST /v1/campaigns/{}/end', danger: true, when: (it) => ['open', 'planned', 'paused'].includes(it.status) },
        ],
      },
    ],
  },
  {
    name: 'rains',
    find: 'rain',
    index: [
      {
        name: 'rains',
        list: true,
        call: 'GET /v1/rains',
        columns: ['id', 'name', 'status', 'budget', 'drops', 'caught.count', 'startsAt', 'endsAt'],
        open: 'rains',
        actions: [{ name: 'makeRain', call: 'POST /v1/rains', draft: { name: 'rain', make: RAIN } }],
      },
    ],
    one: [
      {
        name: 'rain',
        call: 'GET /v1/rains/{}',
        actions: [{ name: 'cancelRain', call: 'POST /v1/rains/{}/cancel', danger: true, when: (it) => ['planned', 'falling'].includes(it.status) }],
      },
    ],
  },
  {
    name: 'webhooks',
    index: [{ name: 'webhooks', list: true, call: 'GET /v1/webhooks', open: 'webhooks', actions: [{ name: 'makeWebhook', call: 'POST /v1/webhooks', show: 'secret' }] }],
    one: [
      {
        name: 'webhook',
        call: 'GET /v1/webhooks/{}',
        actions: [
          { name: 'testWebhook', call: 'POST /v1/webhooks/{}/test', show: 'outcome' },
          { name: 'changeWebhook', call: 'PATCH /v1/webhooks/{}' },
          { name: 'redeliver', call: 'POST /v1/webhooks/{}/redeliver' },
          { name: 'rotate', call: 'POST /v1/webhooks/{}/secrets', show: 'secret', danger: true },
          { name: 'deleteWebhook', call: 'DELETE /v1/webhooks/{}', danger: true },
        ],
      },
      {
        name: 'deliveries',
        list: true,
        call: 'GET /v1/webhooks/{}/deliveries',
        rows: [{ name: 'redeliverFrom', call: 'POST /v1/webhooks/{}/redeliver', ids: (row, ids) => ids, fill: (row) => ({ after: row.after ?? '' }), when: (row) => row.after }],
      },
    ],
  },
  {
    name: 'books',
    index: [
      { name: 'allTransfers', list: true, ask: true, call: 'GET /v1/transfers', rows: [REVERSE_BOOKED] },
      { name: 'totals', list: true, lines: true, ask: true, needs: ['from', 'to'], call: 'GET /v1/ledger/totals', files: files('GET /v1/ledger/totals') },
      { name: 'openItems', list: true, call: 'GET /v1/ledger/open-items', columns: ['kind', 'id', 'owner', 'holds', 'createdAt', 'endsAt'], open: (row) => `${row.kind}s` },
    ],
  },
  {
    name: 'assets',
    index: [
      {
        name: 'assets',
        list: true,
        call: 'GET /v1/assets',
        actions: [{ name: 'makeAsset', call: 'POST /v1/assets' }],
        rows: [{ name: 'changeAsset', call: 'POST /v1/assets', ids: () => [], danger: true, fill: declared }],
      },
    ],
  },
  {
    name: 'commands',
    find: 'command',
    index: [{ name: 'commands', list: true, call: 'GET /v1/commands', columns: ['id', 'operation', 'actor.user', 'actor.role', 'reference', 'reason', 'at'], open: 'commands' }],
    one: [{ name: 'command', call: 'GET /v1/commands/{}' }],
  },
  { name: 'checks', index: [{ name: 'checks', kind: 'checks', call: 'GET /manage/reconciliation', actions: [{ name: 'check', call: 'POST /manage/reconciliation' }] }] },
  {
    name: 'quarantine',
    index: [
      {
        name: 'quarantine',
        list: true,
        call: 'GET /manage/quarantine',
        columns: ['id', 'kind', 'shard', 'since', 'entries', 'held', 'sqlState', 'reason'],
        rows: [{ name: 'replay', call: 'POST /manage/quarantine/{}/replay' }, { name: 'void', call: 'POST /manage/quarantine/{}/void', danger: true }],
      },
    ],
  },
  {
    name: 'servers',
    index: [
      { name: 'servers', list: true, call: 'GET /manage/servers', columns: ['server', 'address', 'since', 'shards', 'session'] },
      { name: 'shards', list: true, call: 'GET /manage/shards', columns: ['shard', 'server', 'epoch', 'settled', 'aside'] },
    ],
  },
  { name: 'audit', index: [{ name: 'audit', list: true, call: 'GET /v1/audit', columns: ['at', 'actor', 'role', 'address', 'method', 'route', 'subject', 'status', 'problem', 'reference', 'times'], files: files('GET /v1/audit/export') }] },
];
