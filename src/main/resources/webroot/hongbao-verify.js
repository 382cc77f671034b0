/**
 * Recomputes the shares of a closed packet, and the moments of a rain that is over, from their seeds, in a browser or Node 20: whoever
 * knew the commitment before knows afterwards that nobody changed an amount or a moment. No dependencies, no network. /docs/guide/fairness.html describes the bytes.
 *
 *   import { verifyPacket } from './hongbao-verify.js';
 *
 *   const packet = await (await fetch(`/v1/packets/${id}`, { headers })).json();
 *   const { items } = await (await fetch(`/v1/packets/${id}/claims?limit=200`, { headers })).json(); // and the next pages
 *   const { fair, faults } = await verifyPacket(packet, items, { commitment });
 *   const { fair, faults } = await verifyRain(rain, { commitment }); // as GET /v1/rains/{rain} answers
 *
 * Amounts and random numbers are BigInt where they could be rounded. Needs WebCrypto, which browsers have over HTTPS and on
 * localhost only.
 */

/** The label of the key stream of each version of the split. */
const LABELS = new Map([[1, 'hb-split-v1:']]);

const MAX_TOTAL = 99_999_999_999_999;
const MAX_COUNT = 100_000;
/** Of the key stream at first, and for each share; what needs more starts again with four times as much. */
const FIRST_BYTES = 4096;
const BYTES_A_SHARE = 64;
const MAX_FAULTS = 20;

/** The bound of a list's numbers. */
const RANGE = 2 ** 52;

const HEX_64 = /^[0-9a-f]{64}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/;

/**
 * Whether all claims on a closed packet are what its seed gives, and the seed is what it was committed to.
 *
 * @param {object} packet as `GET /v1/packets/{packet}` answers once it is closed
 * @param {object[]} claims the items of all pages of `GET /v1/packets/{packet}/claims`
 * @param {object} [known]
 * @param {string} [known.commitment] what was told before the race; only this makes it a proof
 * @returns {Promise<{fair: boolean, faults: string[], shares: number[]}>} `faults` say what is wrong, in English; `shares` are the amounts
 *     of all slots, minor units. Rejected with a TypeError when it cannot be told: the packet is not closed, or the input is not what it
 *     should be
 */
export async function verifyPacket(packet, claims, { commitment } = {}) {
  const [digest, shares] = await Promise.all([commitmentOf(packet), sharesOf(packet)]);
  const faults = [];
  if (commitment !== undefined && commitment.toLowerCase() !== packet.commitment) {
    faults.push(`the commitment told before was ${commitment}, now it is ${packet.commitment}`);
  }
  if (digest !== packet.commitment) {
    faults.push(`the commitment is ${packet.commitment}, the seed and the terms give ${digest}`);
  }
  judgeClaims(packet, claims, shares, faults);
  judgeEnd(packet, claims, shares, faults);
  return { fair: faults.length === 0, faults: faults.slice(0, MAX_FAULTS), shares };
}

/**
 * The commitment that a packet's seed and terms give.
 * @param {object} packet
 * @returns {Promise<string>} 64 hexadecimal digits
 */
export async function commitmentOf(packet) {
  check(packet);
  const lines = ['hongbao-packet-v1'];
  for (const name of ['id', 'seed', 'asset', 'amount', 'count', 'min', 'max', 'split', 'splitVersion']) {
    lines.push(`${name}=${packet[name]}`);
  }
  return digestOf(lines);
}

async function digestOf(lines) {
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''));
  return hex(await subtle().digest('SHA-256', bytes));
}

function bytesOf(seed) {
  return Uint8Array.from(seed.match(/../g), (byte) => parseInt(byte, 16));
}

/**
 * The amounts of all slots of a packet, minor units.
 * @param {object} packet
 * @returns {Promise<number[]>}
 */
export async function sharesOf(packet) {
  check(packet);
  const key = await subtle().importKey('raw', bytesOf(packet.seed), 'AES-CTR', false, ['encrypt']);
  const counter = new Uint8Array(16);
  counter.set(new TextEncoder().encode(LABELS.get(packet.splitVersion)));
  for (let size = FIRST_BYTES + BYTES_A_SHARE * packet.count; ; size *= 4) {
    const stream = await subtle().encrypt({ name: 'AES-CTR', counter, length: 32 }, key, new Uint8Array(size));
    try {
      return split(packet, new Numbers(stream)).map(Number);
    } catch (short) {
      if (!(short instanceof TooShort)) throw short;
    }
  }
}

/**
 * Whether the drops of a rain that is over fell at the moments that its seed gives, had what the budget gives, and the seed is what it was
 * committed to. What was in the shares of a drop is for {@link verifyPacket}.
 *
 * @param {object} rain as `GET /v1/rains/{rain}` answers it once it has ended
 * @param {object} [known]
 * @param {string} [known.commitment] what was told before the rain; only this makes it a proof
 * @returns {Promise<{fair: boolean, faults: string[], moments: number[]}>} `moments` of all drops, milliseconds from 1970. Rejected with a
 *     TypeError when it cannot be told
 */
export async function verifyRain(rain, { commitment } = {}) {
  checkRain(rain);
  const { id, seed, drops, budget, fallen, caught, returned, cancelledAt } = rain;
  const [from, to] = [rain.startsAt, rain.lastAt].map((time) => micros(time) / 1000);
  const digest = await digestOf(['hongbao-rain-v1', `id=${id}`, `seed=${seed}`, `from=${from}`, `to=${to}`, `drops=${drops}`]);
  const moments = await momentsOf(seed, from, to, drops);
  const faults = [];
  if (commitment !== undefined && commitment.toLowerCase() !== rain.commitment) {
    faults.push(`the commitment told before was ${commitment}, now it is ${rain.commitment}`);
  }
  if (digest !== rain.commitment) {
    faults.push(`the commitment is ${rain.commitment}, the seed and the terms give ${digest}`);
  }
  // What had not fallen a microsecond before the cancelling never fell.
  const fell = moments.filter((moment) => cancelledAt === null || moment * 1000 < micros(cancelledAt) - 1);
  if (fallen.length !== fell.length) {
    faults.push(`${fallen.length} drops fell, the seed gives ${fell.length}`);
  }
  if (new Set(fallen.map(({ packet }) => packet)).size !== fallen.length) {
    faults.push('a drop fell twice');
  }
  // Of drops at the same moment the larger ones are the earlier ones.
  [...fallen].sort((a, b) => micros(a.at) - micros(b.at) || b.amount - a.amount).forEach(({ packet, at, amount, over }, n) => {
    const share = Math.floor(budget / drops) + (n < budget % drops ? 1 : 0);
    if (n < fell.length && micros(at) !== fell[n] * 1000) {
      faults.push(`drop ${packet} fell at ${at}, the seed gives ${new Date(fell[n]).toISOString()}`);
    }
    if (n < drops && amount !== share) {
      faults.push(`drop ${packet} had ${amount}, the budget gives ${share}`);
    }
    if (over !== true) {
      faults.push(`drop ${packet} can still be caught, and the rain is over`);
    }
  });
  if (caught.amount + returned !== budget) {
    faults.push(`caught are ${caught.amount} and returned ${returned}, the budget is ${budget}`);
  }
  if (caught.amount > fallen.reduce((sum, { amount }) => sum + amount, 0)) {
    faults.push(`caught are ${caught.amount}, and less fell`);
  }
  return { fair: faults.length === 0, faults: faults.slice(0, MAX_FAULTS), moments };
}

/** The list of numbers `moments 0 1`, each below the length of the time, added to its start and sorted. */
async function momentsOf(seed, from, to, drops) {
  const key = await subtle().importKey('raw', bytesOf(seed), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const bound = to - from;
  const limit = RANGE - (RANGE % bound);
  const moments = [];
  for (let counter = 0; bound > 1 && moments.length < drops; counter++) {
    const block = new DataView(await subtle().sign('HMAC', key, new TextEncoder().encode(`moments 0 1 ${counter}`)));
    for (let at = 0; at < 32 && moments.length < drops; at += 8) {
      const number = Number(block.getBigUint64(at) >> 12n);
      if (number < limit) moments.push(from + (number % bound));
    }
  }
  return bound === 1 ? Array(drops).fill(from) : moments.sort((a, b) => a - b);
}

/** Microseconds from 1970 of a time as the server writes it; a Date has milliseconds only. */
function micros(time) {
  const [, seconds, fraction = ''] = TIME.exec(time) ?? [];
  const millis = Date.parse(`${seconds}Z`);
  need(!Number.isNaN(millis), 'a time is missing');
  return millis * 1000 + Number(fraction.padEnd(6, '0'));
}

/** Refuses what is no rain that is over. */
function checkRain({ id, seed, commitment, startsAt, lastAt, drops, budget, fallen, caught, returned, cancelledAt }) {
  need(seed !== null, 'the rain is not over: the server shows its seed when it returns the remainder');
  need(HEX_64.test(seed) && HEX_64.test(commitment), 'seed or commitment are not 64 hexadecimal digits');
  need(UUID.test(id), 'id is malformed');
  need([drops, budget, caught?.amount, returned].every((n) => Number.isSafeInteger(n) && n >= 0), 'an amount or a number is missing');
  need(budget <= MAX_TOTAL && drops >= 1 && drops <= MAX_COUNT && budget >= drops, 'there is no such rain');
  need(Array.isArray(fallen) && fallen.length <= MAX_COUNT && fallen.every(({ packet, at, amount }) => UUID.test(packet)
    && TIME.test(at) && Number.isSafeInteger(amount)), 'a drop has no packet, time or amount');
  if (cancelledAt !== null) micros(cancelledAt);
  const lasts = (micros(lastAt) - micros(startsAt)) / 1000;
  need(micros(startsAt) % 1000 === 0 && Number.isInteger(lasts) && lasts >= 1 && lasts <= 1e12, 'there is no such time');
}

function judgeClaims(packet, claims, shares, faults) {
  const slots = new Set();
  const users = new Set();
  for (const { packet: of, user, slot, amount, asset } of claims) {
    need(of === packet.id && asset === packet.asset, 'a claim is on another packet');
    need(Number.isSafeInteger(slot) && Number.isSafeInteger(amount) && typeof user === 'string', 'a claim has no slot, user or amount');
    if (slot < 0 || slot >= Math.min(claims.length, shares.length) || slots.has(slot)) {
      faults.push(`slot ${slot} is not in the packet, or claimed twice, or after an unclaimed slot`);
    } else if (users.has(user)) {
      faults.push(`${user} has two shares`);
    } else if (amount !== shares[slot]) {
      faults.push(`slot ${slot} gave ${amount}, the seed gives ${shares[slot]}`);
    }
    slots.add(slot);
    users.add(user);
  }
}

function judgeEnd(packet, claims, shares, faults) {
  const sum = claims.reduce((total, { amount }) => total + amount, 0);
  const { count, amount } = packet.claimed;
  if (count !== claims.length || amount !== sum) {
    faults.push(`claimed are ${count} shares of ${amount} in all, listed ${claims.length} of ${sum}`);
  }
  const drained = packet.status === 'drained';
  if (drained !== (count === packet.count)) {
    faults.push(`${count} of ${packet.count} shares are claimed, and the packet is ${drained ? 'drained' : 'not drained'}`);
  }
  const luckiest = shares.indexOf(shares.reduce((most, share) => Math.max(most, share), 0));
  if ((packet.luckiest?.slot ?? null) !== (drained ? luckiest : null)) {
    faults.push('the luckiest is not the one that the seed gives');
  }
}

/** Refuses what is no closed packet: what goes into a digest or a split must be what the server would write. */
function check(packet) {
  const { id, seed, asset, amount, count, min, max, split: algorithm, splitVersion, commitment, claimed } = packet;
  need(seed !== null, 'the packet is not closed: the server shows its seed when no share can be claimed any more');
  need(HEX_64.test(seed) && HEX_64.test(commitment), 'seed or commitment are not 64 hexadecimal digits');
  need(UUID.test(id) && /^[A-Z][A-Z0-9_-]{0,15}$/.test(asset), 'id or asset are malformed');
  need([amount, count, min, max, claimed?.count, claimed?.amount].every(Number.isSafeInteger), 'an amount or a number is missing');
  need(amount <= MAX_TOTAL && count >= 1 && count <= MAX_COUNT && min >= 1 && max <= amount
    && min * count <= amount && BigInt(max) * BigInt(count) >= BigInt(amount), 'there is no such split');
  need(Object.hasOwn(ALGORITHMS, algorithm) && LABELS.has(splitVersion), 'the split is not one that this program knows');
  need(algorithm !== 'equal' || amount % count === 0, 'there is no such split');
}

function need(kept, rule) {
  if (!kept) throw new TypeError(rule);
}

function subtle() {
  need(globalThis.crypto?.subtle, 'there is no WebCrypto: browsers have it over HTTPS and on localhost only');
  return globalThis.crypto.subtle;
}

function hex(buffer) {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

// --- the random numbers ---

class TooShort extends Error {}

/** Random numbers from a key stream, each taken from its next 8 bytes, big-endian. */
class Numbers {
  #view;
  #at = 0;

  constructor(stream) {
    this.#view = new DataView(stream);
  }

  /** From 0 to bound − 1, each equally likely: as many upper bits as bound − 1 has, again until they are below it. */
  below(bound) {
    if (bound === 1n) return 0n;
    const unused = BigInt(64 - (bound - 1n).toString(2).length);
    for (;;) {
      if (this.#at + 8 > this.#view.byteLength) throw new TooShort();
      const candidate = this.#view.getBigUint64(this.#at) >> unused;
      this.#at += 8;
      if (candidate < bound) return candidate;
    }
  }
}

// --- the splits, version 1; all numbers are BigInt ---

const ALGORITHMS = { 'double-mean': doubleMean, inflate, 'even-luck': evenLuck, equal };

/** The amounts in the order of the slots. */
function split(packet, random) {
  const [amount, count, min, max] = [packet.amount, packet.count, packet.min, packet.max].map(BigInt);
  const shares = ALGORITHMS[packet.split](random, amount - count * min, count, max - min).map((part) => min + part);
  if (packet.split !== 'equal') {
    for (let i = shares.length - 1; i > 0; i--) {
      const j = Number(random.below(BigInt(i + 1)));
      [shares[i], shares[j]] = [shares[j], shares[i]];
    }
  }
  return shares;
}

function equal(random, excess, count) {
  return Array(Number(count)).fill(excess / count);
}

/** Calls `next(rest, left)` for every share but the last, which gets what is left. */
function oneByOne(excess, count, next) {
  const shares = [];
  let rest = excess;
  for (let left = count; left > 1n; left--) {
    shares.push(next(rest, left));
    rest -= shares.at(-1);
  }
  shares.push(rest);
  return shares;
}

function doubleMean(random, excess, count, cap) {
  const around = (rest, left) => random.below((2n * rest + random.below(left)) / left + 1n);
  return oneByOne(excess, count, (rest, left) => {
    const room = left * cap - rest;
    return rest <= room ? around(rest, left) : cap - around(room, left);
  });
}

function inflate(random, excess, count, cap) {
  const distance = (reach) => {
    const one = random.below(reach + 2n);
    const other = random.below(reach + 1n);
    return reach + 1n - larger(one, other >= one ? other + 1n : other);
  };
  return oneByOne(excess, count, (rest, left) => {
    const centre = (rest + random.below(left)) / left;
    const below = centre - larger(0n, rest - (left - 1n) * cap);
    const above = smaller(smaller(cap, rest), 2n * centre) - centre;
    if (below === 0n || above === 0n) return centre;
    return random.below(below + above) < above ? centre - distance(below) : centre + distance(above);
  });
}

function evenLuck(random, excess, count, cap) {
  if (cap >= excess) return composition(random, excess, count);
  const room = count * cap - excess;
  if (room < excess) return evenLuck(random, room, count, cap).map((missing) => cap - missing);
  const tries = Math.max(1, Math.min(64, Math.floor(4096 / Number(count))));
  for (let i = 0; i < tries; i++) {
    const shares = composition(random, excess, count);
    if (shares.every((share) => share <= cap)) return shares;
  }
  return mixed(random, excess, count, cap);
}

function composition(random, excess, count) {
  const places = excess + count - 1n;
  const shares = Array(Number(count)).fill(0n);
  if (excess < count - 1n) {
    distinct(random, Number(excess), places).forEach((star, i) => shares[Number(star) - i]++);
    return shares;
  }
  let before = -1n;
  distinct(random, Number(count) - 1, places).forEach((bar, i) => {
    shares[i] = bar - before - 1n;
    before = bar;
  });
  shares[shares.length - 1] = places - before - 1n;
  return shares;
}

/** Different numbers below the bound, ascending. */
function distinct(random, size, bound) {
  const chosen = new BigUint64Array(size);
  let known = 0;
  while (known < size) {
    for (let i = known; i < size; i++) chosen[i] = random.below(bound);
    chosen.sort();
    known = 1;
    for (let i = 1; i < size; i++) {
      if (chosen[i] !== chosen[known - 1]) chosen[known++] = chosen[i];
    }
  }
  return chosen;
}

function mixed(random, excess, count, cap) {
  const n = Number(count);
  const shares = Array.from({ length: n }, (_, i) => excess / count + (BigInt(i) < excess % count ? 1n : 0n));
  const rounds = 20 + n.toString(2).length;
  for (let round = 0; round < rounds; round++) {
    const step = 1 + Number(random.below(count - 1n));
    for (let i = 0; i < n; i++) {
      const partner = (i + step) % n;
      const both = shares[i] + shares[partner];
      const least = larger(0n, both - cap);
      shares[i] = least + random.below(smaller(both, cap) - least + 1n);
      shares[partner] = both - shares[i];
    }
  }
  return shares;
}

function larger(a, b) {
  return a > b ? a : b;
}

function smaller(a, b) {
  return a < b ? a : b;
}
