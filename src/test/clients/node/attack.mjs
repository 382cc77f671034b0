// The npm package as an application uses it, against a server that is taken away and brought back: NodeClientIT starts it with URL (of the
// socket), TOKEN and GROUP, tells it on standard input what has happened, and reads what it saw from standard output.
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { connect, HongbaoError, randomKey, verifyPacket } from 'hongbao-client';
import { verifyPacket as same } from 'hongbao-client/verify';
import WebSocket from 'ws';

assert.equal(same, verifyPacket);
const { URL, TOKEN, GROUP } = process.env;
setTimeout(() => assert.fail('a minute and a half has passed'), 90_000).unref();
const say = (what) => console.log(what);
const words = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const heard = async (word) => assert.equal((await words.next()).value, word);

assert.throws(() => connect({ token: TOKEN, WebSocket }), /url/);
const client = connect({ url: URL, token: () => TOKEN, WebSocket, heartbeatMillis: 300, pongMillis: 2_000, answerMillis: 5_000 });

// Given a group that is followed, by a handler that takes its time
const told = [];
let running = 0;
const membership = await client.join(GROUP, {
  packets: 0,
  onEvent: async ({ cursor, type, data }) => {
    assert.equal(running++, 0, 'the handler is told one thing after the other');
    await new Promise((resolve) => setTimeout(resolve, 5));
    told.push([cursor, type, data.packet?.id]);
    running--;
  },
});

// When more is asked for at once than the server reads in seconds
const send = (key, count) => client.send({ group: GROUP, kind: 'equal', asset: 'CNY', amount: count, count }, key);
const packets = await Promise.all(Array.from({ length: 100 }, () => send(randomKey(), 1)));
assert.equal(new Set(packets.map(({ id }) => id)).size, 100);
say('sent');

// And when the server dies in the middle of what was asked for
const keys = Array.from({ length: 10 }, randomKey);
const lost = Promise.all(keys.map((key) => send(key, 2)));
const claims = Promise.all(packets.slice(0, 10).map(({ id }) => client.claim(id)));
say('asked');
await heard('back');
const after = await lost;
for (const { amount, status } of await claims) assert.deepEqual([amount, status], [1, 'settled']);

// Then each happened once: the same key is the same packet, and each is told once
assert.deepEqual((await Promise.all(keys.map((key) => send(key, 2)))).map(({ id }) => id), after.map(({ id }) => id));
const wanted = [...packets, ...after].map(({ id }) => id).sort();
for (const end = Date.now() + 30_000; told.filter(([, type]) => type === 'packet.sent').length < wanted.length;) {
  assert(Date.now() < end, `${told.length} events are told`);
  await new Promise((resolve) => setTimeout(resolve, 50));
}
assert.deepEqual(told.filter(([, type]) => type === 'packet.sent').map(([, , id]) => id).sort(), wanted);
assert.equal(new Set(told.map(([cursor]) => cursor)).size, told.length);
assert(Number(membership.cursor()) >= Number(told.at(-1)[0]));

// And a refusal is told as what it is, and a feed that the server does not know begins anew
await assert.rejects(client.claim('01939d1e-8c00-7000-8000-000000000001'), (error) => error instanceof HongbaoError && error.kind === 'not-found');
await membership.leave();
const reason = await new Promise((resolve) => {
  client.join(GROUP, { after: '999999999', packets: 3, onEvent() {}, onState: (state, why) => resolve([state.length, why]) });
});
assert.deepEqual(reason, [3, 'cursor-unknown']);
client.close();
await assert.rejects(client.ping(), { kind: 'disconnected' });
say('done');
process.exit(0);
