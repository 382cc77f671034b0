/**
 * What this tab knows of the group, kept up to date by the socket: packets, wins, connection, balances. Everything shown comes
 * from here; whoever shows it is told of each change.
 * @module
 */
import { connect, randomKey, verifyPacket, verifyRain } from '../hongbao-client.js';
import { ROOT, assets, balances, claims, demoLogin, draw as fetchDraw, packet as fetchPacket, plays, rain as fetchRain } from './api.js';
import { learn } from './faces.js';
import { learnAssets } from './format.js';
import { rememberSession } from './prefs.js';
import { Rain } from './rain-watch.js';
import { askClock } from './time.js';

/** A token is renewed this long before it ends; the client asks a minute before. */
const RENEW_MILLIS = 90_000;

/** Refusals after which nobody knows whether it happened. */
const UNSURE = new Set(['disconnected', 'unknown']);

/** Packets, wins and rains that are kept to be shown, the newest: a tab may stay open for days. */
const MAX_PACKETS = 200;
const MAX_WINS = 100;
const MAX_RAINS = 20;

/** A refusal as the views know it. */
class Refused extends Error {
  constructor(error) {
    super(error.message);
    this.reason = error.kind ?? error.reason ?? 'disconnected';
    this.problem = error.problem ?? {};
  }
}

export class Room {
  #session;
  #client;
  #packets = new Map();
  #early = new Map(); // the viewer's newest claims that were told before their packets
  #listeners = new Set();
  #stale = false;
  #assets = null; // once they are known, or asked for
  #asked = 0;
  #wins = [];
  #rains = new Map();
  #pastRains = new Set(); // whose end was told, maybe before they were found
  #keys = new Map(); // of what was sent or played without a sure answer
  #curtain = null; // events of wins that wait until the wheel has stopped

  /** @type {'connecting'|'open'|'waiting'|'closed'} */
  line = 'connecting';
  /** Whether the group's state has been told. */
  known = false;
  /** Minor units; null before it is known. @type {number|null} */
  balance = null;
  /** Null before it is known. @type {number|null} */
  points = null;
  /** Grows whenever the wallet's records may have changed. */
  movements = 0;
  /** The draw behind the wheel, as the viewer sees it; null before it is known. @type {object|null} */
  draw = null;
  /** Grows whenever the viewer has played. */
  spins = 0;

  /** @param {{user: string, group: string, token: string, expiresAt: string, draw: string|null, members: string[]}} session */
  constructor(session) {
    this.#session = session;
    this.#client = connect({
      url: new URL('v1/socket', ROOT).href.replace(/^http/, 'ws'),
      token: () => this.#token(),
      onState: (line, why) => this.#lineIs(line, why),
      onClaim: (claim) => this.#claimed(claim),
      onPlays: () => this.#played(),
    });
    askClock(() => this.#client.now());
    this.#client
      .join(session.group, {
        packets: 50,
        onState: (packets) => this.#reset(packets),
        onEvent: (event) => this.#happened(event),
      })
      .catch(() => this.#tell());
  }

  /** The viewer's user id. */
  get me() {
    return this.#session.user;
  }

  get group() {
    return this.#session.group;
  }

  get members() {
    return this.#session.members ?? [];
  }

  /** Oldest first. */
  get packets() {
    return [...this.#packets.values()].sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.id < b.id ? -1 : 1));
  }

  /** The feed's events of wins at the wheel since this tab opened, oldest first. */
  get wins() {
    return this.#wins;
  }

  /** The rains that this tab has heard of, the earliest first: see {@link Rain}. */
  get rains() {
    return [...this.#rains.values()].sort((a, b) => Date.parse(a.told.startsAt) - Date.parse(b.told.startsAt));
  }

  /** Whether there is a wheel. */
  get hasWheel() {
    return Boolean(this.#session.draw);
  }

  find(id) {
    return this.#packets.get(id);
  }

  /** The token for calls over HTTP. */
  token() {
    return this.#session.token;
  }

  /** @param {(event: object|null) => void} listener told of each change, with the feed's event if it is one */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends a packet. @returns it; rejects with a refusal */
  async send(packet) {
    const sent = await this.#once(`send ${JSON.stringify(packet)}`, (key) => this.#client.send(packet, key));
    this.#put(sent);
    this.#moved();
    return sent;
  }

  /** Makes a call with a key. A repeat after a lost answer has the same key, so that it happens once. */
  async #once(what, call) {
    const key = this.#keys.get(what) ?? randomKey();
    this.#keys.set(what, key);
    try {
      const done = await call(key);
      this.#keys.delete(what);
      return done;
    } catch (error) {
      if (!UNSURE.has(error.kind)) {
        this.#keys.delete(what);
      }
      throw new Refused(error);
    }
  }

  /** Claims a share; once settled, it is in the packet's `mine`. @returns whether it is a new one */
  async claim(id, passcode) {
    const before = this.#packets.get(id)?.mine;
    try {
      this.#claimed(await this.#client.claim(id, { passcode, onAccepted: (claim) => this.#claimed(claim) }));
      return !before;
    } catch (error) {
      this.#look(id);
      throw new Refused(error);
    }
  }

  /**
   * Plays the wheel. What was won stays behind a curtain until {@link Room#reveal}: the wheel is to show it first.
   * @returns the settled plays; rejects with a refusal
   */
  async play(count) {
    this.#curtain ??= [];
    const plays = await this.#once(`play ${count}`, (key) => this.#client.play(this.#session.draw, { plays: count, key }));
    this.#played(); // when the wheel was closed meanwhile
    return plays;
  }

  /** Shows what the curtain hides, and what it did to the wallet; nothing without a curtain. */
  reveal() {
    const hidden = this.#curtain;
    if (hidden === null) {
      return;
    }
    this.#curtain = null;
    this.spins++;
    hidden.forEach((event) => this.#happened(event));
    this.#moved();
    this.lookAtDraw();
  }

  /** Asks for the draw behind the wheel again. */
  lookAtDraw() {
    fetchDraw(this.token(), this.#session.draw).then((seen) => {
      this.draw = seen;
      this.#tell();
    }, () => {});
  }

  /** A page of the viewer's own plays: `{items, next}`. */
  plays(cursor) {
    return plays(this.token(), this.#session.draw, cursor);
  }

  /** The holders of shares: `{items, next, luckiest}`. */
  async claims(id) {
    const page = await claims(this.token(), id);
    learn(page.profiles);
    return page;
  }

  /** Recomputes a packet's shares; see {@link verifyPacket}. What this tab was told of the commitment before counts. */
  async verify(id) {
    const commitment = this.#packets.get(id)?.commitment;
    const seen = await fetchPacket(this.token(), id);
    const items = [];
    let next = '';
    do {
      const page = await claims(this.token(), id, next);
      items.push(...page.items);
      next = page.next;
    } while (next !== null);
    return verifyPacket(seen, items, { commitment });
  }

  /** Recomputes a rain's moments; see {@link verifyRain}. What this tab was told of the commitment before counts. */
  async verifyRain({ id, told: { commitment } }) {
    return verifyRain(await fetchRain(this.token(), id), { commitment });
  }

  /** Ends the connection. */
  close() {
    this.#client.close();
    this.#listeners.clear();
  }

  async #token() {
    const left = Date.parse(this.#session.expiresAt) - this.#client.now();
    if (left < RENEW_MILLIS || this.#stale) {
      Object.assign(this.#session, await demoLogin(this.me));
      this.#stale = false;
      rememberSession(this.#session);
    }
    // No amount is shown before it is known how: all that is shown comes after the token.
    this.#assets ??= assets(this.#session.token).then(({ items }) => learnAssets(items), () => {
      this.#assets = null;
    });
    await this.#assets;
    return this.#session.token;
  }

  #lineIs(line, why) {
    this.line = line;
    if (why === 'token-refused') {
      this.#stale = true;
    }
    if (line === 'open') {
      this.#moved();
    }
    this.#tell();
  }

  #reset(packets) {
    this.#packets.clear();
    packets.forEach((packet) => {
      learn(packet.profiles);
      this.#packets.set(packet.id, this.#withClaim(packet));
    });
    this.known = true;
    this.#tell();
    this.#findRains();
  }

  /** From now on the feed tells of rains; what it told before, this tab has to ask for. */
  #findRains() {
    this.#client.rains(this.group).then((rains) => rains.forEach((rain) => this.#watch(rain)), () => {});
  }

  #put(packet) {
    learn(packet.profiles);
    const old = this.#packets.get(packet.id);
    this.#packets.set(packet.id, old ? { ...packet, ...old } : this.#withClaim(packet));
    this.packets.slice(0, -MAX_PACKETS).forEach(({ id }) => this.#packets.delete(id));
    this.#tell();
  }

  #withClaim(packet) {
    return { ...packet, mine: packet.mine ?? this.#early.get(packet.id) ?? null };
  }

  #change(id, change) {
    const old = this.#packets.get(id);
    if (old) {
      this.#packets.set(id, { ...old, ...change });
    }
    return old;
  }

  /** A claim of the viewer's own; accepted first, then settled. */
  #claimed(claim) {
    const old = this.#packets.get(claim.packet);
    if (!old) {
      this.#early = new Map([...this.#early, [claim.packet, claim]].slice(-MAX_PACKETS));
    } else if (old.mine?.status !== 'settled') {
      this.#change(claim.packet, { mine: claim });
    }
    this.#rains.forEach((rain) => rain.claimed(claim));
    if (claim.status === 'settled') {
      this.#moved();
    }
    this.#tell();
  }

  /** Takes a group's news of a rain. */
  #rained(event) {
    const { rain: id } = event.data;
    if (event.type === 'rain.announced') {
      this.#watch({ id, ...event.data });
    } else if (event.type === 'rain.started' && !this.#rains.has(id)) {
      this.#findRains();
    }
    if (event.type === 'rain.ended') {
      this.#pastRains.add(id);
    }
    this.#rains.get(id)?.happened(event);
    this.#tell(event);
  }

  #watch(told) {
    if (this.#rains.has(told.id) || this.#pastRains.has(told.id)) {
      return;
    }
    this.#rains.set(told.id, new Rain(told, {
      client: this.#client,
      token: () => this.token(),
      onClaim: (claim) => this.#claimed(claim),
      onChange: () => this.#tell(),
    }));
    this.rains.slice(0, -MAX_RAINS).filter(({ endedAt }) => endedAt !== null).forEach(({ id }) => this.#rains.delete(id));
    this.#tell();
  }

  /** The viewer has played elsewhere: another tab, another device, a wheel that is closed. */
  #played() {
    if (this.#curtain === null) {
      this.spins++;
      this.#moved();
      this.lookAtDraw();
    }
  }

  #happened(event) {
    const { data } = event;
    learn(data.profiles);
    if (event.type.startsWith('rain.')) {
      this.#rained(event);
      return;
    }
    switch (event.type) {
      case 'packet.sent':
        this.#put(data.packet);
        if (data.packet.sender === this.me) {
          this.#sent();
          this.#moved();
        } else if (data.packet.kind === 'exclusive') {
          this.#look(data.packet.id); // the feed is everybody's: it does not say for whom
        }
        break;
      case 'packet.progress':
        this.#progress(data);
        break;
      case 'packet.drained':
      case 'packet.expired':
        this.#change(data.packet, { status: event.type.slice('packet.'.length), claimed: data.claimed, luckiest: data.luckiest });
        break;
      case 'packet.refunded':
        this.#change(data.packet, { status: data.status, claimed: data.claimed, refund: data.amount });
        if (data.sender === this.me) {
          this.#moved();
        }
        break;
      case 'draw.won':
        if (this.#curtain !== null && data.wins.some((win) => win.user === this.me)) {
          this.#curtain.push(event);
          return;
        }
        this.#wins = [...this.#wins, event].slice(-MAX_WINS);
        break;
      default:
        return;
    }
    this.#tell(event);
  }

  /** Forgets the key of an unsure command that was seen now: the same packet again is another one. */
  #sent() {
    [...this.#keys.keys()].filter((what) => what.startsWith('send')).forEach((what) => this.#keys.delete(what));
  }

  #progress({ packet, claimed }) {
    const old = this.#packets.get(packet);
    if (old && claimed.count > old.claimed.count) {
      this.#change(packet, { claimed: { ...old.claimed, ...claimed } });
    }
  }

  /** Looks at a packet again: the feed has yet to tell, or tells less than this viewer may know. */
  #look(id) {
    fetchPacket(this.token(), id).then((seen) => {
      learn(seen.profiles);
      // What was told meanwhile is newer.
      const { mine, status, claimed, luckiest } = this.#packets.get(id) ?? seen;
      const newer = { ...(mine?.status === 'settled' && { mine }), ...(status !== 'open' && { status, claimed, luckiest }) };
      if (this.#change(id, { ...seen, ...newer })) {
        this.#tell();
      }
    }, () => {});
  }

  #moved() {
    this.movements++;
    const asked = ++this.#asked;
    balances(this.token()).then((found) => {
      if (asked === this.#asked) {
        this.balance = found.money;
        this.points = found.points;
        this.#tell();
      }
    }, () => {});
  }

  #tell(event = null) {
    this.#listeners.forEach((listener) => listener(event));
  }
}
