// The client against a server that is made up here, for what a real one does seldom: NodeClientIT runs it.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { connect } from 'hongbao-client';

const refusedAsBlocked = { type: 'error', error: { type: 'https://hongbao.dev/problems/blocked', detail: 'Ask the host.' } };

/** A server's end of each connection: what it was sent, and a way to answer. */
class FakeSocket {
  static all = [];
  static answer = () => undefined;
  static blocked = false;
  static join = null; // answers a join in the way of a refusal; undefined is no answer

  constructor() {
    this.frames = [];
    FakeSocket.all.push(this);
    setTimeout(() => this.onopen());
  }

  send(text) {
    const frame = JSON.parse(text);
    this.frames.push(frame);
    setTimeout(() => {
      const answer = this.#known(frame) ?? FakeSocket.answer(frame, this);
      if (answer) this.tell({ id: frame.id, ...answer });
    });
  }

  #known({ type, group, after }) {
    if (type === 'auth') return FakeSocket.blocked ? refusedAsBlocked : { type: 'authenticated', expiresAt: '2035-01-01T00:00:00Z' };
    if (type === 'ping') return { type: 'pong', at: new Date().toISOString() };
    if (type === 'join' && FakeSocket.join !== null) return FakeSocket.join;
    if (type === 'join') return { type: 'joined', group, cursor: after ?? '0', packets: after === undefined ? [] : undefined };
    if (type === 'leave') return { type: 'left', group };
    return null;
  }

  tell(frame) {
    this.onmessage({ data: JSON.stringify(frame) });
  }

  close(code = 1000, reason = '') {
    setTimeout(() => this.onclose({ code, reason }));
  }

  sent(type) {
    return this.frames.filter((frame) => frame.type === type);
  }
}

let client;

afterEach(() => client.close());

async function start(answer = () => undefined, options = {}) {
  FakeSocket.all = [];
  FakeSocket.answer = answer;
  FakeSocket.blocked = false;
  FakeSocket.join = null;
  client = connect({ url: 'ws://fake', token: 't', WebSocket: FakeSocket, ...options });
  await client.ping();
}

const claimed = ({ packet }) => ({ type: 'claim.settled', claim: { packet } });
const refused = (retryAfterSeconds) => ({
  type: 'error',
  error: { type: 'https://hongbao.dev/problems/too-many-requests', detail: 'Slow down.', retryAfterSeconds },
});
const event = (n) => ({ type: 'event', event: { group: 'g', cursor: String(n), type: 'packet.progress', data: { n } } });

test('a group whose handler falls far behind is left, and joined again from where it was', async () => {
  await start();
  const [socket] = FakeSocket.all;
  const told = [];
  let release;
  const free = new Promise((resolve) => { release = resolve; });
  const membership = await client.join('g', { onEvent: ({ cursor }) => free.then(() => { told.push(Number(cursor)); }) });

  // When 1,500 events come while the first is handled
  for (let n = 1; n <= 1_500; n++) socket.tell(event(n));
  assert.equal(socket.sent('leave').length, 1);
  assert.equal(membership.cursor(), '0');
  release();
  while (socket.sent('join').length < 2) await new Promise((resolve) => setTimeout(resolve));

  // Then what was kept is told, in its order, and the rest is asked for
  assert.deepEqual(told, Array.from({ length: told.length }, (_, i) => i + 1));
  assert(told.length >= 1_000 && told.length < 1_010, `${told.length}`);
  assert.equal(socket.sent('join')[1].after, String(told.length));
  await client.ping(); // the server has answered the join
  socket.tell(event(told.length + 1));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(membership.cursor(), String(told.length));
});

test('a refusal for now is repeated when the server says so, and one for long is told', async () => {
  let asked = 0;
  await start((frame) => (asked++ === 0 ? refused(1) : claimed(frame)));
  const begun = Date.now();
  assert.deepEqual(await client.claim('p'), { packet: 'p' });
  assert.equal(asked, 2);
  assert(Date.now() - begun >= 1_000);

  FakeSocket.answer = () => refused(60);
  await assert.rejects(client.claim('p'), { kind: 'too-many-requests', retryAfterSeconds: 60 });
});

test('a frame that the server would hang up on is refused at once, and is not sent', async () => {
  await start(() => ({ type: 'claims.answered', outcomes: { items: [] } }));
  const around = JSON.stringify({ type: 'claims', claims: [{ user: '', packet: 'p' }], id: '9' }).length;
  const claims = (letters) => [{ user: '红'.repeat(letters), packet: 'p' }]; // three bytes each
  await assert.rejects(client.claimMany(claims(30_000)), { kind: 'payload-too-large' });
  assert.equal(FakeSocket.all[0].sent('claims').length, 0);
  assert.deepEqual(await client.claimMany(claims(Math.floor((65_536 - around) / 3))), []);
  assert.equal(FakeSocket.all.length, 1);
});

test('a refusal over HTTP says when to ask again', async (t) => {
  await start();
  const problem = { type: 'https://hongbao.dev/problems/too-many-requests', title: 'Too many requests' };
  t.mock.method(globalThis, 'fetch', async () => Response.json(problem, { status: 429, headers: { 'Retry-After': '7' } }));
  await assert.rejects(client.rains('g'), { kind: 'too-many-requests', retryAfterSeconds: 7 });
});

test('claims and plays of many are asked for again with the same keys when the line is lost', async () => {
  await start();
  const outcomes = { items: [{ status: 201 }] };
  const lostOnce = (type) => (frame, socket) => {
    if (FakeSocket.all.indexOf(socket) === FakeSocket.all.length - 1 && !lost.has(type)) {
      lost.add(type);
      socket.close(1001);
      return undefined;
    }
    return { type: `${type}.answered`, outcomes };
  };
  const lost = new Set();

  FakeSocket.answer = lostOnce('claims');
  assert.deepEqual(await client.claimMany([{ user: 'bob', packet: 'p' }]), outcomes.items);
  FakeSocket.answer = lostOnce('plays');
  assert.deepEqual(await client.playMany([{ user: 'bob', draw: 'd' }, { user: 'carl', draw: 'd', key: 'own' }]), outcomes.items);

  const sent = (type) => FakeSocket.all.flatMap((socket) => socket.sent(type));
  assert.equal(sent('claims').length, 2);
  const [first, again] = sent('plays').map(({ plays }) => plays);
  assert.deepEqual(again, first);
  assert.equal(first[1].key, 'own');
  assert.match(first[0].key, /^[0-9a-f]{32}$/);
});

test('it asks no faster than the server reads, and more slowly when it is told that it was too fast', async () => {
  await start(claimed, { messagesPerSecond: 40 });
  const begun = Date.now();
  await Promise.all(Array.from({ length: 80 }, (_, i) => client.claim(`p${i}`)));
  assert(Date.now() - begun >= 900, `${Date.now() - begun} ms`);

  // When the server passes over frames, and says so without an id
  FakeSocket.answer = () => undefined;
  const waiting = Promise.all(Array.from({ length: 30 }, (_, i) => client.claim(`q${i}`)));
  await new Promise((resolve) => setTimeout(resolve, 50));
  FakeSocket.answer = claimed;
  FakeSocket.all[0].tell({ ...refused(1), id: null });

  // Then all is asked for again on another connection
  assert.equal((await waiting).length, 30);
  assert.equal(FakeSocket.all.length, 2);
});

test('it asks faster again while the server answers', { timeout: 10_000 }, async () => {
  // Given a client that was too fast, and an answered ping for each frame a second that it lost
  await start(claimed, { messagesPerSecond: 40, heartbeatMillis: 100 });
  FakeSocket.all[0].tell({ ...refused(1), id: null });
  while (!(FakeSocket.all[1]?.sent('ping').length > 25)) await new Promise((resolve) => setTimeout(resolve));

  // When
  const begun = Date.now();
  await Promise.all(Array.from({ length: 80 }, (_, i) => client.claim(`p${i}`)));

  // Then it is done in some two seconds; at half of the rate it took six
  assert(Date.now() - begun < 4_000, `${Date.now() - begun} ms`);
});

test('a refusal that does not say of what is of the only request that has no answer', async () => {
  await start();
  const [socket] = FakeSocket.all;
  const unreadable = { type: 'error', id: null, error: { type: 'https://hongbao.dev/problems/malformed-json', detail: 'What is it?' } };
  const sent = async (n) => { while (socket.sent('claim').length < n) await new Promise((resolve) => setTimeout(resolve)); };
  await client.ping();

  // Given a claim that is accepted and not yet settled, when another one is asked for and refused
  FakeSocket.answer = ({ packet }) => ({ type: 'claim.accepted', claim: { packet } });
  let first;
  await new Promise((resolve) => { first = client.claim('p1', { onAccepted: resolve }); });
  FakeSocket.answer = () => undefined;
  const second = client.claim('p2');
  await sent(2);
  socket.tell(unreadable);

  // Then it is that one, at once
  await assert.rejects(second, { kind: 'malformed-json' });

  // When it could be one of two, then neither is refused
  const two = Promise.all([client.claim('p3'), client.claim('p4')]);
  await sent(4);
  socket.tell(unreadable);
  for (const { id, packet } of socket.sent('claim').filter(({ packet }) => packet !== 'p2')) {
    socket.tell({ id, type: 'claim.settled', claim: { packet } });
  }
  assert.deepEqual(await two, [{ packet: 'p3' }, { packet: 'p4' }]);
  assert.deepEqual(await first, { packet: 'p1' });
  assert.equal(FakeSocket.all.length, 1);
});

test('when its user is blocked it refuses all with that, and does not come back', async () => {
  const states = [];
  const open = () => start(() => undefined, { token: () => 't', onState: (state, why) => states.push(why ? `${state} ${why}` : state) });
  await open();
  const [socket] = FakeSocket.all;
  const kindOf = (promise) => promise.then(() => 'none', ({ kind }) => kind);

  // Given a claim that waits, and one that is about to be repeated, when the server closes
  const waits = kindOf(client.claim('p1'));
  while (socket.sent('claim').length < 1) await new Promise((resolve) => setTimeout(resolve));
  FakeSocket.answer = () => refused(1);
  const repeats = kindOf(client.claim('p2'));
  while (socket.sent('claim').length < 2) await new Promise((resolve) => setTimeout(resolve));
  await client.ping();
  states.length = 0;
  socket.close(4009, 'blocked');

  // Then
  assert.equal(await waits, 'blocked');
  assert.equal(await repeats, 'blocked');
  assert.equal(await kindOf(client.claim('p3')), 'blocked');
  assert.equal(await kindOf(client.join('g', { onEvent: () => {} })), 'blocked');
  assert.deepEqual(states, ['closed blocked']);

  // And so it is when the token is refused for it
  const opening = open();
  FakeSocket.blocked = true;
  const joins = kindOf(client.join('g', { onEvent: () => {} }));
  assert.equal(await kindOf(opening), 'blocked');
  assert.equal(await joins, 'blocked');
  assert.deepEqual(states, ['closed blocked', 'connecting', 'closed blocked']);
  assert.equal(FakeSocket.all.length, 1);
});

test('a join that the server refuses without a time to wait is refused at once', async () => {
  await start();
  FakeSocket.join = refused(undefined);
  await assert.rejects(client.join('g', { onEvent: () => {} }), { kind: 'too-many-requests' });
  assert.equal(FakeSocket.all[0].sent('join').length, 1);
});

test('when the server ends what was joined, that is told after the events before it', { timeout: 10_000 }, async () => {
  await start(() => undefined, { token: () => 't' });
  const told = [];
  let left;
  const ended = () => new Promise((resolve) => { left = resolve; });
  const follow = () => client.join('g', {
    onEvent: async ({ cursor }) => { told.push(cursor); },
    onLeft: ({ kind, reason }) => { told.push(`${kind} ${reason}`); left(); },
  });

  // When a new token is without the group
  await follow();
  let end = ended();
  FakeSocket.all[0].tell(event(1));
  FakeSocket.all[0].tell({ type: 'left', group: 'g' });
  await end;

  // And when it is refused on the next connection
  await follow();
  end = ended();
  FakeSocket.join = { type: 'error', error: { type: 'https://hongbao.dev/problems/not-eligible', detail: 'No.', reason: 'recipient' } };
  FakeSocket.all[0].close(1001);
  await end;

  // Then
  assert.deepEqual(told, ['1', 'not-eligible group', 'not-eligible recipient']);
});

test('who closes the client, or is refused from the start, is not told that the server ended it', async () => {
  await start();
  const told = [];
  const follow = (group) => client.join(group, { onEvent: () => {}, onLeft: ({ kind }) => told.push(kind) });
  await follow('g');
  FakeSocket.join = refused(60);
  await assert.rejects(follow('h'), { kind: 'too-many-requests' });
  client.close();
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(told, []);
});

test('a client that is blocked while it joins again is not told that the server ended what was joined', { timeout: 10_000 }, async () => {
  await start();
  const told = [];
  await client.join('g', { onEvent: () => {}, onLeft: ({ kind }) => told.push(kind) });

  // When the next connection closes before the join is answered
  FakeSocket.join = undefined;
  FakeSocket.all[0].close(1001);
  while (FakeSocket.all[1]?.sent('join').length !== 1) await new Promise((resolve) => setTimeout(resolve));
  FakeSocket.all[1].close(4009, 'blocked');
  await new Promise((resolve) => setTimeout(resolve, 20));

  // Then
  await assert.rejects(client.claim('p'), { kind: 'blocked' });
  assert.deepEqual(told, []);
});

test('what a handler throws is its author\'s to see, and stops nothing', { timeout: 10_000 }, async (t) => {
  // Given handlers that throw, each once for each thing
  const listeners = process.rawListeners('unhandledRejection');
  const faults = [];
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', (fault) => faults.push(fault));
  t.after(() => listeners.reduce((it, each) => it.on('unhandledRejection', each), process.removeAllListeners('unhandledRejection')));
  const thrown = [];
  const fails = (what) => {
    thrown.push(what);
    throw what;
  };

  // When all is told
  await start(({ packet }) => ({ type: 'claim.accepted', claim: { packet } }), {
    onState: (state) => fails(state),
    onClaim: () => fails('claim'),
    onPlays: () => fails('plays'),
  });
  const [socket] = FakeSocket.all;
  const membership = await client.join('g', { onState: () => fails('packets'), onEvent: ({ data }) => fails(data.n) });
  const claim = client.claim('p', { onAccepted: () => fails('accepted') });
  while (!thrown.includes('accepted')) await new Promise((resolve) => setTimeout(resolve));
  socket.tell({ id: socket.sent('claim')[0].id, ...claimed({ packet: 'p' }) });
  assert.deepEqual(await claim, { packet: 'p' });
  for (const frame of [claimed({ packet: 'q' }), { type: 'play.settled', plays: { items: [] } }, event(1), event(2)]) socket.tell(frame);
  await client.ping();

  client.close();
  await new Promise((resolve) => setTimeout(resolve));

  // Then it came in order, on one connection
  assert.deepEqual(thrown, ['connecting', 'open', 'packets', 'accepted', 'claim', 'plays', 1, 2, 'closed']);
  assert.deepEqual(faults, thrown);
  assert.equal(membership.cursor(), '2');
  assert.equal(FakeSocket.all.length, 1);
});

test('leaving what the server has ended does not leave what was joined since', async () => {
  await start();
  const [socket] = FakeSocket.all;
  const told = [];
  let ended;
  const end = new Promise((resolve) => { ended = resolve; });
  const before = await client.join('g', { onEvent: () => {}, onLeft: ended });
  socket.tell({ type: 'left', group: 'g' });
  await end;
  await client.join('g', { onEvent: ({ cursor }) => { told.push(cursor); } });

  // When
  await before.leave();
  socket.tell(event(1));

  // Then
  assert.deepEqual(told, ['1']);
  assert.equal(socket.sent('leave').length, 0);
});

test('a refusal over HTTP that is no problem document, as of a proxy, is one too', async (t) => {
  await start();
  t.mock.method(globalThis, 'fetch', async () => Response.json({ message: 'Bad gateway' }, { status: 502, headers: { 'Retry-After': '7' } }));
  await assert.rejects(client.rains('g'), { name: 'HongbaoError', kind: 'about:blank', retryAfterSeconds: 7 });
});

test('a server that takes the token and hangs up is asked again after longer each time', { timeout: 10_000 }, async (t) => {
  // Given waits that are known, and pass at once
  const waits = [];
  const { setTimeout: real } = globalThis;
  t.mock.method(Math, 'random', () => 0.8);
  t.mock.method(globalThis, 'setTimeout', (then, millis = 0) => {
    const again = Number.isInteger(Math.log2((millis - 100) / 400));
    if (again) waits.push(millis);
    return real(then, again ? 0 : millis);
  });
  await start();
  FakeSocket.join = undefined;
  client.join('g', { onEvent: () => {} }).catch(() => {});

  // When
  for (let n = 0; n < 4; n++) {
    while (FakeSocket.all[n]?.sent('join').length !== 1) await new Promise((resolve) => real(resolve));
    FakeSocket.all[n].close(4008, 'internal-error');
  }
  while (waits.length < 4) await new Promise((resolve) => real(resolve));

  // Then
  assert.deepEqual(waits, [500, 900, 1_700, 3_300]);
});
