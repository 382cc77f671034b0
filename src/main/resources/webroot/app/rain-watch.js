/**
 * A rain (红包雨) as this tab knows it: its group tells that there is one, its own channel what falls, and each drop is a packet to claim.
 * @module
 */
import { rain as fetchRain } from './api.js';
import { now } from './time.js';

/** Drops that are kept to be shown, the newest. */
const MAX_DROPS = 60;

/** Refusals after which nobody catches anything of the drop. */
const OVER = new Set(['drained', 'expired']);

export class Rain {
  #needs;
  #drops = new Map();
  #mine = new Map();
  #tapped = new Set();
  #membership = null;
  #spread = null;

  #limited = false;

  /** The time at which its end was told; null before. @type {string|null} */
  endedAt = null;

  /**
   * @param {object} told as `rain.announced` or the list of the group's rains tells it, with its `id`
   * @param {{client: object, token: () => string, onClaim: (claim: object) => void, onChange: () => void}} needs
   */
  constructor(told, needs) {
    this.told = told;
    this.caught = told.caught ?? { count: 0, amount: 0 };
    this.#needs = needs;
    (told.mine ?? []).forEach((claim) => this.#mine.set(claim.packet, claim));
    this.#membership = needs.client.join(told.channel, {
      packets: 50,
      // A rain that is just announced is followed from its first event; one that was found, with the viewer's claims, from its state.
      after: told.mine ? undefined : '0',
      onState: (packets) => {
        packets.forEach((packet) => this.#fell(packet));
        this.#askWhetherItIsOver();
        needs.onChange();
      },
      onEvent: (event) => this.happened(event),
    });
    this.#membership.catch(() => {});
  }

  get id() {
    return this.told.id;
  }

  /** @returns {'waiting'|'falling'|'over'|'ended'} */
  phase() {
    if (this.endedAt !== null) {
      return 'ended';
    }
    return now() < Date.parse(this.told.startsAt) ? 'waiting' : now() < Date.parse(this.told.endsAt) ? 'falling' : 'over';
  }

  /** The drops to be shown, in the order in which they fell: `{id, state}`, the state being `falling`, `tapped`, `won` or `gone`. */
  get drops() {
    return [...this.#drops.values()].slice(-MAX_DROPS).map(({ id, over }) => ({ id, state: this.#state(id, over) }));
  }

  /** Whether the viewer has all that one user may catch. */
  get full() {
    return this.#limited || this.#mine.size >= this.told.catchesPerUser;
  }

  /** The viewer's claims. */
  get mine() {
    return [...this.#mine.values()];
  }

  #state(id, over) {
    return this.#mine.has(id) ? 'won' : over ? 'gone' : this.#tapped.has(id) ? 'tapped' : 'falling';
  }

  /** An event of the rain, in whichever feed it is told. */
  happened({ type, at, data }) {
    switch (type) {
      case 'packet.sent':
        this.#fell(data.packet);
        break;
      case 'packet.drained':
        this.#over(data.packet);
        break;
      case 'rain.caught':
        this.caught = data.caught;
        break;
      case 'rain.ended':
        this.#ended(at, data.caught);
        break;
      default:
        return;
    }
    this.#needs.onChange();
  }

  /** A claim of the viewer's on any packet; passed over unless it is on one of the drops. */
  claimed(claim) {
    if (this.#drops.has(claim.packet)) {
      this.#mine.set(claim.packet, claim);
    }
  }

  /** Taps a drop. @returns whether a share was caught; rejects when that could not be found out */
  async tap(id) {
    if (this.full || this.#tapped.has(id) || this.#mine.has(id)) {
      return false;
    }
    this.#tapped.add(id);
    this.#needs.onChange();
    try {
      await (this.#spread ??= this.#firstTap());
      const { onClaim } = this.#needs;
      onClaim(await this.#needs.client.claim(id, { onAccepted: onClaim }));
      return true;
    } catch (error) {
      if (OVER.has(error.kind)) {
        this.#over(id);
      } else if (error.kind === 'limited') {
        this.#limited = true;
      } else {
        throw error;
      }
      return false;
    } finally {
      this.#tapped.delete(id);
      this.#needs.onChange();
    }
  }

  /** At the start all tap at once: so each waits with the first tap, for a time that the server bounds. */
  #firstTap() {
    const { startsAt, firstTapWithin } = this.told;
    const wait = now() < Date.parse(startsAt) + firstTapWithin ? Math.random() * firstTapWithin : 0;
    return new Promise((done) => setTimeout(done, wait));
  }

  #fell(packet) {
    this.#drops.set(packet.id, { id: packet.id, over: packet.status !== 'open' });
    if (packet.mine) {
      this.claimed(packet.mine);
    }
  }

  #over(id) {
    const drop = this.#drops.get(id);
    if (drop) {
      drop.over = true;
    }
  }

  #ended(at, caught) {
    if (this.#isOver(at, caught)) {
      // What was caught before this tab was there, or in another one.
      this.#ask((seen) => this.#caughtAll(seen));
    }
  }

  /** @returns {boolean} whether that is new */
  #isOver(at, caught) {
    if (this.endedAt !== null) {
      return false;
    }
    this.endedAt = at;
    this.caught = caught;
    this.#membership.then((joined) => joined.leave()).catch(() => {});
    return true;
  }

  /** A state tells of drops alone; an end that was told before it is told by nobody again. */
  #askWhetherItIsOver() {
    this.#ask((seen) => {
      if (seen.status === 'ended' && this.#isOver(seen.endsAt, seen.caught)) {
        this.#caughtAll(seen);
      }
    });
  }

  #ask(then) {
    fetchRain(this.#needs.token(), this.id).then(then, () => {});
  }

  #caughtAll({ mine }) {
    mine.forEach((claim) => this.#mine.set(claim.packet, claim));
    this.#needs.onChange();
  }
}
