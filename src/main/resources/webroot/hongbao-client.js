/**
 * Hongbao's client for browsers and Node: one WebSocket that comes back by itself, and misses nothing when it does.
 * Needs hongbao-verify.js beside it, and nothing else. The protocol is described in /asyncapi.yaml.
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
 *   // Node before 22 has no WebSocket of its own: import WebSocket from 'ws'; connect({ WebSocket, url, token })
 *   const { fair } = await verifyPacket(closedPacket, claims); // see hongbao-verify.js
 *
 * What a promise is refused with is a {@link HongbaoError}: its `kind` is the end of the problem's type (`drained`,
 * `expired`, `insufficient-funds`, …), so switch on that.
 *
 * A line may die without a word (a phone changes its network, a router forgets). So the client asks every 15 seconds whether
 * the server is there, and at once when the browser is online again or its tab is looked at; without an answer within 10
 * seconds it cuts the connection and opens another. No request waits for more than 30 seconds.
 *
 * It asks no faster than the server reads, and when a handler gives a promise it is told the next thing after that: a group whose handler
 * falls far behind is left and joined again from where it was.
 */

export { verifyPacket, verifyRain } from './hongbao-verify.js';

/** Close codes after which another attempt with the same token is of no use; see asyncapi.yaml. */
const FINAL_CODES = new Set([1002, 1003, 4000, 4009]);
/** The host has blocked the user: no other token helps either. */
const BLOCKED_CODE = 4009;
/** Too many connections of this user: of no use either, unless those that this client lost are still counted. */
const TOO_MANY_CODE = 4005;
/** Close codes that ask for a fresh token. */
const TOKEN_CODES = new Set([4002, 4003]);
/** The server read frames more slowly than this client sent them. */
const TOO_FAST_CODE = 4006;
const SUBPROTOCOL = 'hongbao.v1';
/** Milliseconds that connecting and authenticating may take. */
const OPEN_MILLIS = 10_000;
/** Milliseconds between two pings, until a ping's answer, and until any other answer. */
const BOUNDS = { heartbeatMillis: 15_000, pongMillis: 10_000, answerMillis: 30_000 };
/** Milliseconds for which a request that is safe to repeat is repeated. */
const GIVE_UP_MILLIS = 120_000;
/** The frames a second that the server reads, unless it is configured otherwise. */
const MESSAGES_PER_SECOND = 20;
/** The longest frame that the server reads, in bytes of UTF-8; it hangs up on a longer one. */
const MAX_BYTES = 65_536;
/** Requests that wait for their turn or their answer; further ones are refused. */
const MAX_WAITING = 1_000;
/** Events of a group that wait for its handler; then the group is left until they are handled. */
const MAX_BEHIND = 1_000;
/** The longest wait, in seconds, that the client adds by itself after 429: a longer one is the caller's decision. */
const PATIENCE_SECONDS = 10;
/** Kinds of errors after which the same request may be repeated: nobody knows, or not yet. */
const REPEATABLE = new Set(['disconnected', 'unknown', 'overloaded', 'stopping']);

/**
 * A refusal by the server, or the loss of the connection (`kind` is `disconnected` then: it may have happened or not, and
 * repeating it with the same key is safe).
 */
export class HongbaoError extends Error {
  /** @param {{type: string, title?: string, status?: number, detail?: string, reason?: string, retryAfterSeconds?: number}} problem */
  constructor(problem) {
    super(problem.detail || problem.title || problem.type);
    this.name = 'HongbaoError';
    /** The end of the problem's type. @type {string} */
    this.kind = problem.type.slice(problem.type.lastIndexOf('/') + 1);
    /** Which cause the refusal has, where its kind has several: `recipient`, `group`, … @type {string | null} */
    this.reason = problem.reason ?? null;
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
 *     called for every connection, a minute before the token in use expires, and by {@link HongbaoClient#rains}
 * @param {string} [options.url] of the socket, with the path below which a proxy has the server; this page's own server, without such a path, when left out
 * @param {number} [options.heartbeatMillis] how often to ask whether the server is there
 * @param {number} [options.pongMillis] how long it may take to say so, before the connection is cut
 * @param {number} [options.answerMillis] how long any other answer may take, before the connection is cut; more than the
 *     server's 10 s
 * @param {number} [options.messagesPerSecond] how fast to ask at most: the server takes 20 a second
 * @param {(state: 'connecting'|'open'|'waiting'|'closed', why?: string) => void} [options.onState] told what the connection does;
 *     `closed` without having been asked for is final, and `why` says which: `blocked` when the host has blocked the user
 * @param {(claim: object) => void} [options.onClaim] told of the user's own claims made elsewhere
 * @param {(plays: object[]) => void} [options.onPlays] told of the user's own plays made elsewhere
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
  #wasOpen = false;
  #closed = false;
  #ending = null; // the error with which it refuses what is asked for once it is closed
  #checking = false;
  #attempt = 0;
  #ahead = 0; // milliseconds that this clock is ahead of the server's
  #nextId = 1;
  #waiting = new Map(); // id → {text, sent, accepted, resolve, reject, onAccepted, timer}
  #groups = new Map(); // group → {cursor, packets, onEvent, onState, resolve, reject}
  #timer = null; // of the next connection; null while there is one
  #deadline = null;
  #refresh = null;
  #heartbeat = null;
  #perSecond; // frames
  #allowed; // frames that may be sent now
  #allowedAt = 0;
  #pacing = null;

  constructor(options) {
    this.#options = { ...BOUNDS, messagesPerSecond: MESSAGES_PER_SECOND, ...options };
    this.#perSecond = Math.max(1, this.#options.messagesPerSecond);
    this.#allowed = this.#perSecond;
    if (!this.#options.url && !globalThis.location) {
      throw new TypeError("There is no page here whose server could be meant: give connect() the socket's url, wss://…/v1/socket.");
    }
    if (!(this.#options.WebSocket || globalThis.WebSocket)) {
      throw new TypeError('There is no WebSocket here: give connect() one, such as that of the package ws.');
    }
    globalThis.addEventListener?.('online', this.#look);
    globalThis.document?.addEventListener('visibilitychange', this.#look);
    this.#open();
  }

  /**
   * Follows a group's feed. After a lost line it goes on from the last event that was told, so each event is told once.
   * Waits for the connection as long as it takes; rejected when the server refuses, or the client is closed.
   *
   * @param {string} group
   * @param {object} handlers
   * @param {(event: {group: string, cursor: string, type: string, at: string, data: object}) => void | Promise<void>} handlers.onEvent
   *     told one event after the other; a promise is waited for. `type` is `packet.sent`, `packet.progress`, `packet.drained`, `packet.expired`, `packet.refunded`, `draw.opened`,
   *     `draw.won`, `draw.closed`, `rain.announced`, `rain.started`, `rain.caught` or `rain.ended`; pass over others
   * @param {(packets: object[], reason: 'start'|'cursor-too-old'|'cursor-unknown') => void | Promise<void>} [handlers.onState] told the
   *     newest packets at the start, and again when it was away for too long: forget what was known of the group then
   * @param {(error: HongbaoError) => void | Promise<void>} [handlers.onLeft] told last, when the server ends what was joined: a token
   *     without the group, or a refusal after a lost line. Not told when the client is closed
   * @param {string} [handlers.after] a cursor to go on from; now when left out
   * @param {number} [handlers.packets] how many packets `onState` is told, 0 to 50
   * @returns {Promise<{cursor: () => string, leave: () => Promise<void>}>} the cursor of what was handled, to go on from another time
   */
  join(group, handlers) {
    if (this.#closed) return Promise.reject(this.#ending);
    return new Promise((resolve, reject) => {
      const membership = {
        ...handlers,
        cursor: handlers.after, // of what was handled
        received: handlers.after,
        queue: [], // {cursor, tell}
        busy: false, // a handler's promise is waited for
        left: null, // while it is too far behind: the promise of the answer to leaving
        reject,
        ended: reject, // told when the server ends it
      };
      membership.resolve = () => {
        membership.ended = handlers.onLeft;
        resolve({
          cursor: () => membership.cursor,
          leave: async () => {
            membership.queue.length = 0;
            membership.ended = undefined;
            if (this.#groups.get(group) !== membership) return; // ended, or joined again since
            this.#groups.delete(group);
            if (this.#authenticated) await this.#request({ type: 'leave', group }).catch(unlessLost);
          },
        });
      };
      this.#groups.set(group, membership);
      if (this.#authenticated) this.#follow(group, membership);
    });
  }

  /**
   * Sends a packet. A send whose answer was lost with the connection is repeated with the same key: it happens once. After
   * two minutes it is given up, as `disconnected`; to try again, give the same key again.
   *
   * @param {object} packet as in `POST /v1/packets`
   * @param {string} [key] the idempotency key, see {@link randomKey}; a random one when left out
   * @returns {Promise<object>} the packet
   */
  async send(packet, key = randomKey()) {
    return (await this.#repeated({ type: 'send', key, packet })).packet;
  }

  /**
   * Opens a pool of a campaign for a product. It is repeated as a send is: it happens once.
   *
   * @param {{campaign: string, product: string, group: string, metadata?: object}} pool the campaign's id, what is shared, and into which group
   * @param {string} [key] the idempotency key; a random one when left out
   * @returns {Promise<object>} the pool, which is a packet
   */
  async open({ campaign, product, group, metadata }, key = randomKey()) {
    return (await this.#repeated({ type: 'open', key, campaign, product, group, metadata })).packet;
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

  /**
   * Claims for many users, with a token of the role service. Each claim succeeds or is refused by itself. What was lost with the connection
   * is asked for again: each gets the same claim.
   *
   * @param {{user: string, packet: string, passcode?: string, groups?: string[], traits?: object}[]} claims up to 1,000, and 64 KiB as JSON
   * @returns {Promise<{status: number, claim?: object, problem?: object}[]>} an outcome for each, in their order
   */
  async claimMany(claims) {
    return (await this.#repeated({ type: 'claims', claims })).outcomes.items;
  }

  /**
   * Plays for many users, as {@link HongbaoClient#claimMany}.
   *
   * @param {{user: string, draw: string, key?: string, plays?: number, groups?: string[]}[]} plays a random key for each without one
   * @returns {Promise<{status: number, plays?: {items: object[]}, problem?: object}[]>} an outcome for each, in their order
   */
  async playMany(plays) {
    const keyed = plays.map((play) => ({ ...play, key: play.key ?? randomKey() }));
    return (await this.#repeated({ type: 'plays', plays: keyed })).outcomes.items;
  }

  /**
   * The rains (红包雨) of a group that are announced or fall now, for who opens while it rains: the feed tells only what comes. It is asked
   * over HTTP, so a page of another server than the socket's needs a proxy that allows it.
   *
   * @param {string} group
   * @returns {Promise<object[]>} as `GET /v1/groups/{group}/rains`, the earliest first; join the `channel` of each
   */
  async rains(group) {
    const url = new URL(`groups/${encodeURIComponent(group)}/rains`, (this.#options.url || ownUrl()).replace(/^ws/, 'http'));
    const headers = { Accept: 'application/json', Authorization: `Bearer ${await this.#freshToken()}` };
    let answer;
    let body;
    try {
      answer = await fetch(url, { headers, signal: AbortSignal.timeout(this.#options.answerMillis) });
      body = await answer.json();
    } catch {
      throw disconnected('There is no answer.');
    }
    if (!answer.ok) throw new HongbaoError({ type: 'about:blank', retryAfterSeconds: Number(answer.headers.get('Retry-After')), ...body });
    return body.items;
  }

  /** @returns {Promise<string>} the server's time; without an answer in time the connection is cut, and another one made */
  async ping() {
    const asked = Date.now();
    const { at } = await this.#request({ type: 'ping' }, { bound: this.#options.pongMillis, urgent: true });
    this.#ahead = (asked + Date.now()) / 2 - Date.parse(at);
    return at;
  }

  /** @returns {number} the server's time, milliseconds since 1970, as its last pong told: a visitor's clock may be hours off */
  now() {
    return Date.now() - this.#ahead;
  }

  /** Ends the connection for good. What waits is refused. */
  close() {
    const socket = this.#socket;
    this.#socket = null;
    this.#end();
    socket?.close(1000);
  }

  // --- the connection ---

  #open() {
    this.#timer = null;
    this.#tell('connecting');
    const Socket = this.#options.WebSocket || globalThis.WebSocket;
    const socket = new Socket(this.#options.url || ownUrl(), SUBPROTOCOL);
    this.#socket = socket;
    // Whatever comes first ends it, once: some implementations tell a failed connection by an error alone.
    const end = (code, reason) => {
      if (socket !== this.#socket) return;
      this.#socket = null;
      this.#lost(code, reason);
    };
    socket.onopen = () => this.#authenticate(socket);
    socket.onmessage = (message) => {
      if (socket === this.#socket) this.#receive(JSON.parse(message.data));
    };
    socket.onclose = (event) => end(event.code, event.reason);
    socket.onerror = () => setTimeout(() => end(1006, 'unreachable'), 100);
    this.#deadline = setTimeout(() => this.#cut(), OPEN_MILLIS);
  }

  /** Gives a silent connection up. The socket's own end may come minutes later, and is nothing new then. */
  #cut() {
    const socket = this.#socket;
    this.#socket = null;
    socket.close();
    this.#lost(1006, 'no answer');
  }

  /** The network is back, or somebody looks: the line may have died meanwhile, and nobody should wait for a timer. */
  #look = () => {
    if (globalThis.document?.visibilityState === 'hidden') return;
    if (this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#open();
    } else {
      this.#check();
    }
  };

  #check() {
    if (!this.#authenticated || this.#checking) return;
    this.#checking = true;
    const done = () => {
      this.#checking = false;
    };
    this.ping().then(() => {
      this.#attempt = 0; // this connection lasts
      this.#perSecond = Math.min(Math.max(1, this.#options.messagesPerSecond), this.#perSecond + 1);
    }).then(done, done);
  }

  async #authenticate(socket) {
    try {
      const answer = await this.#sendToken(socket);
      clearTimeout(this.#deadline);
      this.#authenticated = true;
      this.#wasOpen = true;
      this.#tell('open');
      this.#heartbeat = setInterval(() => this.#check(), this.#options.heartbeatMillis);
      this.#groups.forEach((membership, group) => membership.left || this.#follow(group, membership));
      this.#pump();
      await this.ping();
      this.#planRefresh(socket, answer.expiresAt);
    } catch (error) {
      if (socket !== this.#socket) return;
      socket.close();
      if (error.kind === 'blocked') { // whatever its close event will say
        this.#socket = null;
        this.#end('blocked', error);
      }
    }
  }

  async #freshToken() {
    const { token } = this.#options;
    return typeof token === 'function' ? token() : token;
  }

  /** Rejected when the connection is another one by the time the token is there. */
  async #sendToken(socket) {
    const value = await this.#freshToken();
    if (socket !== this.#socket) throw disconnected('The connection was lost.');
    return this.#request({ type: 'auth', token: value }, { now: true });
  }

  /** A fresh token a minute before the old one ends, or in the middle of a short one's life. */
  #planRefresh(socket, expiresAt) {
    clearTimeout(this.#refresh);
    if (typeof this.#options.token !== 'function') return;
    const left = Date.parse(expiresAt) - this.now();
    const wait = Math.max(1_000, left - Math.min(60_000, left / 2));
    this.#refresh = setTimeout(async () => {
      try {
        this.#planRefresh(socket, (await this.#sendToken(socket)).expiresAt);
      } catch {
        // the server closes the connection when the token ends, and the next one begins with a fresh token
      }
    }, Math.min(wait, 0x7fffffff));
  }

  #lost(code, reason) {
    if (code === BLOCKED_CODE) {
      this.#end(reason, blocked());
      return;
    }
    this.#drop(disconnected(`The connection was lost: ${reason || `code ${code}`}`));
    if (code === TOO_FAST_CODE) this.#slowDown();
    const staticToken = typeof this.#options.token !== 'function';
    if (FINAL_CODES.has(code) || (code === TOO_MANY_CODE && !this.#wasOpen) || (staticToken && TOKEN_CODES.has(code))) {
      this.#end(reason);
      return;
    }
    // Exponential, at random over the whole span (full jitter), so that not everyone comes back at the same moment.
    const span = Math.min(30_000, 500 * 2 ** this.#attempt++);
    this.#timer = setTimeout(() => this.#open(), code === 1001 ? Math.random() * 2_000 : 100 + Math.random() * span);
    this.#tell('waiting', reason);
  }

  /** For good: with the error all is refused that waits, and all that is asked for later. */
  #end(reason, error = disconnected('The client is closed.')) {
    if (this.#closed) return;
    this.#closed = true;
    this.#ending = error;
    globalThis.removeEventListener?.('online', this.#look);
    globalThis.document?.removeEventListener('visibilitychange', this.#look);
    clearTimeout(this.#timer);
    this.#drop(error);
    this.#groups.forEach(({ reject }) => reject(error));
    this.#groups.clear();
    this.#tell('closed', reason);
  }

  #drop(error) {
    this.#authenticated = false;
    this.#allowed = this.#perSecond;
    clearTimeout(this.#pacing);
    clearTimeout(this.#deadline);
    clearTimeout(this.#refresh);
    clearInterval(this.#heartbeat);
    const lost = [...this.#waiting.values()];
    this.#waiting.clear();
    lost.forEach(({ reject, timer }) => {
      clearTimeout(timer);
      reject(error);
    });
  }

  #tell(state, why) {
    told(() => this.#options.onState?.(state, why));
  }

  // --- requests and answers ---

  /** Answered or refused within the bound; `now` does not wait for the token to be accepted, `urgent` not for its turn. */
  #request(frame, { onAccepted, bound = this.#options.answerMillis, now = false, urgent = false } = {}) {
    if (this.#closed) return Promise.reject(this.#ending);
    if (this.#waiting.size >= MAX_WAITING && !now && !urgent) {
      return Promise.reject(new HongbaoError({ type: 'overloaded', detail: 'Too many requests wait already.', retryAfterSeconds: 1 }));
    }
    const id = String(this.#nextId++);
    const text = JSON.stringify({ ...frame, id });
    if (new TextEncoder().encode(text).length > MAX_BYTES) {
      return Promise.reject(new HongbaoError({ type: 'payload-too-large', detail: `A frame has at most ${MAX_BYTES} bytes.` }));
    }
    return new Promise((resolve, reject) => {
      const request = { text, sent: false, accepted: false, resolve, reject, onAccepted, bound };
      request.timer = setTimeout(() => this.#unanswered(id), bound);
      this.#waiting.set(id, request);
      if (now || (urgent && this.#authenticated)) this.#transmit(id, request);
      else if (this.#authenticated) this.#pump();
    });
  }

  /** Sends what waits, in its order and no faster than the server reads: it passes over what is more, and hangs up after a while. */
  #pump() {
    clearTimeout(this.#pacing);
    const rate = this.#perSecond;
    const now = Date.now();
    this.#allowed = Math.min(rate, this.#allowed + (Math.max(0, now - this.#allowedAt) / 1000) * rate);
    this.#allowedAt = now;
    for (const [id, request] of this.#waiting) {
      if (request.sent) continue;
      if (this.#allowed < 1) {
        this.#pacing = setTimeout(() => this.#pump(), ((1 - this.#allowed) / rate) * 1000 + 1);
        return;
      }
      this.#transmit(id, request);
    }
  }

  /** Its answer's time begins now. */
  #transmit(id, request) {
    this.#allowed--;
    request.sent = true;
    clearTimeout(request.timer);
    request.timer = setTimeout(() => this.#unanswered(id), request.bound);
    this.#socket.send(request.text);
  }

  #slowDown() {
    this.#perSecond = Math.max(1, this.#perSecond / 2);
  }

  /** The server answers everything in time, so the line is dead; what was never sent must not be sent later. */
  #unanswered(id) {
    const request = this.#waiting.get(id);
    if (request.sent) {
      this.#cut();
    } else {
      this.#waiting.delete(id);
      request.reject(disconnected('It could not be sent in time.'));
    }
  }

  /** A request that is safe to repeat: it survives a lost connection, and waits when the server says so. */
  async #repeated(frame, onAccepted) {
    const end = Date.now() + GIVE_UP_MILLIS;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#request(frame, { onAccepted });
      } catch (error) {
        if (!isRepeatable(error) || this.#closed || Date.now() > end) throw error;
        await pause(attempt, error);
      }
    }
  }

  /** Joins, and asks again while the server is busy. A lost connection ends this one: the next connection joins by itself. */
  async #follow(group, membership) {
    const socket = this.#socket;
    for (let attempt = 0; socket === this.#socket && this.#groups.get(group) === membership; attempt++) {
      const frame = { type: 'join', group };
      if (membership.received !== undefined) frame.after = membership.received;
      if (membership.packets !== undefined) frame.packets = membership.packets;
      try {
        await this.#request(frame);
        membership.resolve();
        return;
      } catch (error) {
        if (this.#closed) return;
        if (!isRepeatable(error)) {
          this.#ended(group, membership, error);
          return;
        }
        await pause(attempt, error);
      }
    }
  }

  /** The server ends it: that is told after what came before. */
  #ended(group, membership, error) {
    if (this.#groups.get(group) === membership) this.#groups.delete(group);
    membership.queue.push({ cursor: membership.received, tell: () => membership.ended?.(error) });
    this.#handle(group, membership);
  }

  #receive(frame) {
    switch (frame.type) {
      case 'event': {
        const { event } = frame;
        const membership = this.#groups.get(event.group);
        if (membership && !membership.left) {
          membership.received = event.cursor;
          membership.queue.push({ cursor: event.cursor, tell: () => membership.onEvent(event) });
          this.#handle(event.group, membership);
        }
        return;
      }
      case 'joined': {
        const membership = this.#groups.get(frame.group);
        if (membership) this.#handleState(frame, membership, 'start');
        break;
      }
      case 'reset': {
        const membership = this.#groups.get(frame.group);
        if (membership && !membership.left) {
          membership.queue.length = 0; // what it was to be told is in the state
          this.#handleState(frame, membership, frame.reason);
        }
        return;
      }
      case 'left': {
        const membership = this.#groups.get(frame.group);
        if (frame.id === undefined && membership) this.#ended(frame.group, membership, lostGroup());
        break;
      }
      case 'claim.accepted': {
        const claim = this.#waiting.get(frame.id);
        if (claim) {
          claim.accepted = true;
          told(() => claim.onAccepted?.(frame.claim));
        }
        return;
      }
      case 'claim.settled':
        if (frame.id === undefined) told(() => this.#options.onClaim?.(frame.claim));
        break;
      case 'play.settled':
        if (frame.id === undefined) told(() => this.#options.onPlays?.(frame.plays.items));
        break;
      default:
    }
    const waiting = this.#waiting.get(frame.id);
    if (waiting) this.#answered(frame.id, waiting, frame);
    else if (frame.type === 'error') this.#refusedWithoutId(frame);
  }

  #answered(id, request, frame) {
    this.#waiting.delete(id);
    clearTimeout(request.timer);
    if (frame.type === 'error') request.reject(new HongbaoError(frame.error));
    else request.resolve(frame);
  }

  /** A frame was refused, and the server could not read which. */
  #refusedWithoutId(frame) {
    if (new HongbaoError(frame.error).kind === 'too-many-requests') {
      // Some frames were passed over, and nobody says which: all that waits is asked for again.
      this.#slowDown();
      this.#cut();
      return;
    }
    const possible = [...this.#waiting].filter(([, { sent, accepted }]) => sent && !accepted);
    if (frame.id === null && possible.length === 1) this.#answered(...possible[0], frame);
  }

  /** A group's place, and its state when the server tells it. */
  #handleState({ group, cursor, packets }, membership, reason) {
    membership.received = cursor;
    membership.queue.push({ cursor, tell: () => (packets ? membership.onState?.(packets, reason) : undefined) });
    this.#handle(group, membership);
  }

  /** Tells a group's handlers what waits, one thing after the other. */
  #handle(group, membership) {
    while (!membership.busy && membership.queue.length > 0) {
      const { cursor, tell } = membership.queue.shift();
      const handled = told(tell);
      if (typeof handled?.then === 'function') {
        membership.busy = true;
        const done = () => {
          membership.busy = false;
          membership.cursor = cursor;
          this.#handle(group, membership);
        };
        // A handler that fails has had its event.
        handled.then(done, (fault) => {
          done();
          throw fault;
        });
      } else {
        membership.cursor = cursor;
      }
    }
    if (this.#groups.get(group) !== membership) return;
    if (membership.queue.length > MAX_BEHIND) {
      membership.left ??= this.#request({ type: 'leave', group }, { urgent: true }).catch(() => {});
    } else if (membership.left && !membership.busy) {
      membership.left.then(() => {
        membership.left = null;
        if (this.#authenticated && this.#groups.get(group) === membership) this.#follow(group, membership);
      });
    }
  }
}

/** What a handler answers; what it throws is its author's to see, as an unhandled rejection, and stops nothing here. */
function told(tell) {
  try {
    return tell();
  } catch (fault) {
    return Promise.reject(fault);
  }
}

function ownUrl() {
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/socket`;
}

function isRepeatable({ kind, retryAfterSeconds }) {
  return REPEATABLE.has(kind) || (kind === 'too-many-requests' && retryAfterSeconds > 0 && retryAfterSeconds <= PATIENCE_SECONDS);
}

/** To leave is done when the connection is lost: the next one does not join. */
function unlessLost(error) {
  if (error.kind !== 'disconnected') throw error;
}

function blocked() {
  return new HongbaoError({ type: 'blocked', title: 'The user is blocked', status: 403, detail: 'The host has blocked this user.' });
}

function lostGroup() {
  return new HongbaoError({ type: 'not-eligible', status: 403, reason: 'group', detail: 'The new token is without the group.' });
}

function disconnected(detail) {
  return new HongbaoError({ type: 'disconnected', detail });
}

/** Longer each time, at random, and not before the server wants to be asked again. */
function pause(attempt, { retryAfterSeconds }) {
  const millis = 200 + Math.random() * 400 * (attempt + 1);
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(millis, retryAfterSeconds * 1000));
  });
}

/** A new idempotency key. */
export function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
