/**
 * The calls that a session can make. Which there are, and what they take, is what the server says: so a view shows what this
 * server has, and a form has the fields of the contract.
 * @module
 */
import { ask, call, ProblemError } from '../app/api.js';

/** An export may be long. */
const DOWNLOAD_MILLIS = 600_000;

/** A key that nobody else has. Not `randomUUID`, which a page without TLS on another address has not. */
export function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16).padStart(2, '0')).join('');
}

function nameOf({ method, path }) {
  return `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`;
}

function pathOf(name, ids, query) {
  let used = 0;
  const path = name.slice(name.indexOf(' ') + 1).replaceAll('{}', () => encodeURIComponent(ids[used++]));
  const given = Object.entries(query).filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** A believed token, and what can be called with it. */
export class Session {
  #token;
  #calls;

  /** @type {(problem: object) => void} told when the server believes the token no more */
  onEnd = () => {};

  constructor(token, { user, expiresAt, calls }) {
    this.#token = token;
    this.#calls = new Map(calls.map((each) => [nameOf(each), each]));
    this.user = user;
    this.expiresAt = expiresAt;
  }

  /** Asks the server who the token is; rejects with a ProblemError when it is not of role `service`. */
  static async enter(token) {
    return new Session(token, await call('GET', '/manage/session', { token }));
  }

  /** The token, to be kept for a reload. */
  get token() {
    return this.#token;
  }

  /** @param {string} name such as `GET /v1/packets/{}` */
  has(name) {
    return this.#calls.has(name);
  }

  /** The parameters that a person may choose, by name: their schemas. */
  filtersOf(name) {
    const { query } = this.#calls.get(name);
    return Object.fromEntries(Object.entries(query).filter(([each]) => !['cursor', 'after', 'limit', 'format'].includes(each)));
  }

  /** The schema of what a call takes; null when it takes nothing. */
  bodyOf(name) {
    return this.#calls.get(name).body;
  }

  /** The parameter that says where a page begins. */
  pagedBy(name) {
    return ['cursor', 'after'].find((each) => Object.hasOwn(this.#calls.get(name).query, each));
  }

  /**
   * @param {string} name
   * @param {string[]} ids what the path names, in order
   * @param {{query?: object, body?: object, key?: string}} [more]
   */
  async run(name, ids, { query = {}, body, key } = {}) {
    const headers = key ? { 'Idempotency-Key': key } : {};
    try {
      return await call(name.split(' ')[0], pathOf(name, ids, query), { token: this.#token, body, headers });
    } catch (refused) {
      throw this.#ended(refused);
    }
  }

  /** A call's answer as a file. @param {string} type the media type to accept */
  async download(name, ids, { query = {}, type }) {
    const headers = { Authorization: `Bearer ${this.#token}`, Accept: type };
    const response = await ask(pathOf(name, ids, query), { headers, millis: DOWNLOAD_MILLIS });
    if (!response.ok) {
      throw this.#ended(new ProblemError(await response.json()));
    }
    return response.blob();
  }

  #ended(refused) {
    if (refused instanceof ProblemError && refused.problem.status === 401) {
      this.onEnd(refused.problem);
    }
    return refused;
  }
}
