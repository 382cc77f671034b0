/**
 * Hongbao's client for browsers and Node 22: one WebSocket that comes back by itself, and misses nothing when it does.
 * No dependencies. The protocol is described in /asyncapi.yaml.
 *
 *   import { connect } from './hongbao-client.js';
 *
 *   const client = connect({ token: () => fetchToken() });
 *   const group = await client.join('family', {
 *     onEvent: (event) => console.log(event.type, event.data),
 *     onState: (packets) => console.log('these are there', packets),
 *   });
 *   const packet = await client.send({ group: 'family', kind: 'lucky', asset: 'CNY', amount: 888, count: 8 });
 *   const claim = await client.claim(packet.id);
 *   console.log('won', claim.amount);
 *   const [play] = await client.play(draw);
 *   console.log('drew', play.prize);
 *
 * What a promise is refused with is a {@link HongbaoError}: its `kind` is the end of the problem's type (`drained`,
 * `expired`, `insufficient-funds`, …), so switch on that.
 */

/** Close codes after which another attempt with the same token is of no use; see asyncapi.yaml. */
const FINAL_CODES = new Set([1003, 4000, 4005]);
/** Close codes that ask for a fresh token. */
const TOKEN_CODES = new Set([4002, 4003]);
const SUBPROTOCOL = 'hongbao.v1';
/** How long connecting and authenticating may take. */
const OPEN_MILLIS = 10_000;

/** A refusal by the server, or the loss of the connection (`kind` is `disconnected` then, and repeating is safe). */
export class HongbaoError extends Error {
  /** @param {{type: string, title?: string, status?: number, detail?: string, retryAfterSeconds?: number}} problem */
  constructor(problem) {
    super(problem.detail || problem.title || problem.type);
    this.name = 'HongbaoError';
    /** The end of the problem's type. @type {string} */
    this.kind = problem.type.slice(problem.type.lastIndexOf('/') + 1);
    /** The whole problem document (RFC 9457). */
    this.problem = problem;
    /** Seconds after which the same request may be repeated; 0 when waiting does not help. */
    this.retryAfterSeconds = problem.retryAfterSeconds || 0;
  }
}

/**
 * Connects, and stays connected until {@link HongbaoClient#close}.
 *
 * @param {object} options
 * @param {string | (() => string | Promise<string>)} options.token a JWT, or better a function that gets a fresh one: it is
 *     called for every connection, and a minute before the token in use expires
 * @param {string} [options.url] of the socket; this page's own server when left out
 * @param {(state: 'connecting'|'open'|'waiting'|'closed', why?: string) => void} [options.onState] told what the connection does
 * @param {(claim: object) => void} [options.onClaim] told of the user's own claims made elsewhere
 * @param {typeof WebSocket} [options.WebSocket] another implementation
 * @returns {HongbaoClient}
 */
export function connect(options) {
  return new HongbaoClient(options);
}

export class HongbaoClient {
  #options;
  #socket = null;
  #authenticated = false;
  #closed = false;
  #attempt = 0;
  #nextId = 1;
  #waiting = new Map(); // id → {resolve, reject, onAccepted}
  #queue = []; // frames that wait for the connection
  #groups = new Map(); // group → {cursor, onEvent, onState, joined}
  #timer = null;
  #deadline = null;
  #refresh = null;
  #heartbeat = null;

  constructor(options) {
    this.#options = options;
    this.#open();
  }

  /**
   * Follows a group's feed. After a lost line it goes on from the last event that was told, so each event is told once.
   *
   * @param {string} group
   * @param {object} handlers
   * @param {(event: {group: string, cursor: string, type: string, at: string, data: object}) => void} handlers.onEvent
   *     `type` is `packet.sent`, `packet.progress`, `packet.drained`, `packet.expired`, `packet.refunded`, `draw.opened`,
   *     `draw.won` or `draw.closed`; pass over others
   * @param {(packets: object[], reason: 'start'|'cursor-too-old'|'cursor-unknown') => void} [handlers.onState] told the
   *     newest packets at the start, and again when it was away for too long: forget what was known of the group then
   * @param {string} [handlers.after] a cursor to go on from; now when left out
   * @param {number} [handlers.packets] how many packets `onState` is told, 0 to 50
   * @returns {Promise<{cursor: () => string, leave: () => Promise<void>}>}
   */
  async join(group, handlers) {
    const membership = { ...handlers, cursor: handlers.after, joined: false };
    this.#groups.set(group, membership);
    await this.#joinOnce(group, membership);
    return {
      cursor: () => membership.cursor,
      leave: async () => {
        this.#groups.delete(group);
        await this.#request({ type: 'leave', group });
      },
    };
  }

  /**
   * Sends a packet. A send whose answer was lost with the connection is repeated with the same key: it happens once.
   *
   * @param {object} packet as in `POST /v1/packets`
   * @param {string} [key] the idempotency key; a random one when left out
   * @returns {Promise<object>} the packet
   */
  async send(packet, key = randomKey()) {
    return (await this.#repeated({ type: 'send', key, packet })).packet;
  }

  /**
   * Claims a share (抢).
   *
   * @param {string} packet its id
   * @param {object} [options]
   * @param {string} [options.passcode] 口令
   * @param {(claim: object) => void} [options.onAccepted] told as soon as the share is won, before it is settled
   * @returns {Promise<object>} the settled claim, the same however often it is asked for
   */
  async claim(packet, { passcode, onAccepted } = {}) {
    const frame = { type: 'claim', packet };
    if (passcode !== undefined) frame.passcode = passcode;
    return (await this.#repeated(frame, onAccepted)).claim;
  }

  /**
   * Plays a prize draw (抽奖), all plays or none. What was lost with the connection is asked for again with the same key: it
   * is paid once, and the prizes stay the same.
   *
   * @param {string} draw its id
   * @param {object} [options]
   * @param {number} [options.plays] 1 to 10 (十连抽)
   * @param {string} [options.key] the idempotency key; a random one when left out
   * @returns {Promise<object[]>} the settled plays, in order: `{seq, number, prize, asset?, amount?, code?, at}`
   */
  async play(draw, { plays = 1, key = randomKey() } = {}) {
    return (await this.#repeated({ type: 'play', draw, key, plays })).plays.items;
  }

  /** @returns {Promise<string>} the server's time */
  async ping() {
    return (await this.#request({ type: 'ping' })).at;
  }

  /** Ends the connection for good. */
  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    this.#drop('closed');
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
    this.#tell('closed');
  }

  // --- the connection ---

  #open() {
    this.#tell('connecting');
    const Socket = this.#options.WebSocket || globalThis.WebSocket;
    const socket = new Socket(this.#options.url || ownUrl(), SUBPROTOCOL);
    this.#socket = socket;
    // Whatever comes first ends it, once: some implementations tell a failed connection by an error alone.
    const end = (code, reason) => {
      if (socket !== this.#socket) return;
      this.#socket = null;
      clearTimeout(this.#deadline);
      this.#lost(code, reason);
    };
    socket.onopen = () => this.#authenticate(socket);
    socket.onmessage = (message) => {
      if (socket === this.#socket) this.#receive(JSON.parse(message.data));
    };
    socket.onclose = (event) => end(event.code, event.reason);
    socket.onerror = () => setTimeout(() => end(1006, 'unreachable'), 100);
    this.#deadline = setTimeout(() => {
      socket.close();
      end(1006, 'no answer');
    }, OPEN_MILLIS);
  }

  async #authenticate(socket) {
    try {
      const answer = await this.#sendToken();
      if (socket !== this.#socket) return;
      clearTimeout(this.#deadline);
      this.#attempt = 0;
      this.#authenticated = true;
      this.#tell('open');
      this.#planRefresh(answer.expiresAt);
      this.#heartbeat = setInterval(() => this.ping().catch(() => {}), 20_000);
      for (const [group, membership] of this.#groups) {
        if (membership.joined) this.#joinOnce(group, membership).catch(() => {});
      }
      for (const frame of this.#queue.splice(0)) socket.send(frame);
    } catch {
      if (socket === this.#socket) socket.close();
    }
  }

  async #sendToken() {
    const { token } = this.#options;
    const value = typeof token === 'function' ? await token() : token;
    return this.#request({ type: 'auth', token: value }, undefined, true);
  }

  /** A fresh token a minute before the old one ends, or in the middle of a short one's life. */
  #planRefresh(expiresAt) {
    clearTimeout(this.#refresh);
    if (typeof this.#options.token !== 'function') return;
    const left = Date.parse(expiresAt) - Date.now();
    const wait = Math.max(1_000, left - Math.min(60_000, left / 2));
    this.#refresh = setTimeout(async () => {
      try {
        this.#planRefresh((await this.#sendToken()).expiresAt);
      } catch {
        // the server closes the connection when the token ends, and the next one begins with a fresh token
      }
    }, Math.min(wait, 0x7fffffff));
  }

  #lost(code, reason) {
    this.#drop(reason || `code ${code}`);
    const staticToken = typeof this.#options.token !== 'function';
    if (this.#closed || FINAL_CODES.has(code) || (staticToken && TOKEN_CODES.has(code))) {
      this.#closed = true;
      this.#tell('closed', reason);
      return;
    }
    this.#tell('waiting', reason);
    // Exponential, at random over the whole span (full jitter), so that not everyone comes back at the same moment.
    const span = Math.min(30_000, 500 * 2 ** this.#attempt++);
    this.#timer = setTimeout(() => this.#open(), code === 1001 ? Math.random() * 2_000 : 100 + Math.random() * span);
  }

  #drop(why) {
    this.#authenticated = false;
    clearTimeout(this.#refresh);
    clearInterval(this.#heartbeat);
    const lost = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#queue.length = 0;
    lost.forEach(({ reject }) => reject(new HongbaoError({ type: 'disconnected', detail: `The connection was lost: ${why}` })));
  }

  #tell(state, why) {
    this.#options.onState?.(state, why);
  }

  // --- requests and answers ---

  #request(frame, onAccepted, now = false) {
    if (this.#closed) return Promise.reject(new HongbaoError({ type: 'disconnected', detail: 'The client is closed.' }));
    const id = String(this.#nextId++);
    const text = JSON.stringify({ ...frame, id });
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, onAccepted });
      if (now || this.#authenticated) this.#socket.send(text);
      else this.#queue.push(text);
    });
  }

  /** A request that is safe to repeat: it survives a lost connection, and waits when the server says so. */
  async #repeated(frame, onAccepted) {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#request(frame, onAccepted);
      } catch (error) {
        const again = ['disconnected', 'unknown', 'overloaded', 'stopping'].includes(error.kind);
        if (!again || this.#closed || attempt === 10) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 400 * (attempt + 1)));
      }
    }
  }

  async #joinOnce(group, membership) {
    const frame = { type: 'join', group };
    if (membership.cursor !== undefined) frame.after = membership.cursor;
    if (membership.packets !== undefined) frame.packets = membership.packets;
    for (;;) {
      try {
        await this.#request(frame);
        return;
      } catch (error) {
        // After a lost connection the next one joins by itself, once there is something to go on from.
        if (error.kind !== 'disconnected' || membership.joined || this.#closed) throw error;
      }
    }
  }

  #receive(frame) {
    switch (frame.type) {
      case 'event': {
        const membership = this.#groups.get(frame.event.group);
        if (membership) {
          membership.cursor = frame.event.cursor;
          membership.onEvent(frame.event);
        }
        return;
      }
      case 'joined': {
        const membership = this.#groups.get(frame.group);
        if (membership) {
          membership.joined = true;
          membership.cursor = frame.cursor;
          if (frame.packets) membership.onState?.(frame.packets, 'start');
        }
        break;
      }
      case 'reset': {
        const membership = this.#groups.get(frame.group);
        if (membership) {
          membership.cursor = frame.cursor;
          membership.onState?.(frame.packets, frame.reason);
        }
        return;
      }
      case 'left':
        if (frame.id === undefined) this.#groups.delete(frame.group);
        break;
      case 'claim.accepted':
        this.#waiting.get(frame.id)?.onAccepted?.(frame.claim);
        return;
      case 'claim.settled':
        if (frame.id === undefined) this.#options.onClaim?.(frame.claim);
        break;
      default:
    }
    const waiting = this.#waiting.get(frame.id);
    if (!waiting) return;
    this.#waiting.delete(frame.id);
    if (frame.type === 'error') waiting.reject(new HongbaoError(frame.error));
    else waiting.resolve(frame);
  }
}

function ownUrl() {
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/socket`;
}

function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
