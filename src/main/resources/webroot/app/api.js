/**
 * The calls over HTTP that the page makes beside the socket.
 * @module
 */

/** A call without an answer for so long is given up: the line may be dead. More than the server takes at most. */
const ANSWER_MILLIS = 15_000;

/** The base path of the server: behind a proxy that may be below a path. */
export const ROOT = new URL('..', import.meta.url);

/** A refused call: a problem document of RFC 9457. */
export class ProblemError extends Error {
  /** @param {{type?: string, title?: string, detail?: string, status?: number, errors?: object[]}} problem */
  constructor(problem) {
    super(problem.detail ?? problem.title ?? 'refused');
    this.problem = problem;
  }

  /** The end of the problem's type: `drained`, `not-eligible` and so on. */
  get reason() {
    return String(this.problem.type ?? '').split('/').pop();
  }
}

/** The response to a request. @param {string} path from the root of the server, `/v1/…` */
export function ask(path, { millis = ANSWER_MILLIS, ...request } = {}) {
  return fetch(new URL(`.${path}`, ROOT).href, { ...request, signal: AbortSignal.timeout(millis) });
}

/**
 * @param {string} method
 * @param {string} path from the root of the server, `/v1/…`
 * @param {{token?: string, body?: object, headers?: object}} [more]
 * @returns the answer's body; rejects with a ProblemError when refused, with another error when no answer came
 */
export async function call(method, path, { token, body, headers = {} } = {}) {
  const all = { Accept: 'application/json', 'Accept-Language': document.documentElement.lang || 'en', ...headers };
  if (token) {
    all.Authorization = `Bearer ${token}`;
  }
  if (body) {
    all['Content-Type'] = 'application/json';
  }
  const response = await ask(path, { method, headers: all, body: body && JSON.stringify(body) });
  const text = await response.text();
  const answer = text ? JSON.parse(text) : null;
  if (!response.ok) {
    throw new ProblemError(answer ?? { status: response.status, title: response.statusText });
  }
  return answer;
}

/** Whether a visitor can come in, and as whom: `{open, group, members}` or `{open: false, reason}`. */
export function demo() {
  return call('GET', '/v1/demo');
}

/** Becomes a demo member: `{user, group, token, expiresAt}`. */
export function demoLogin(member) {
  return call('POST', '/v1/demo/login', { body: { member } });
}

/** The assets: `{items}` with code, scale and symbol of each. */
export function assets(token) {
  return call('GET', '/v1/assets?limit=200', { token });
}

/** The caller's balances in minor units, as texts, since a sum may exceed what a number holds: `{money, points}`. */
export async function balances(token) {
  const { items } = await call('GET', '/v1/me/balances', { token });
  const of = (asset) => items.find((item) => item.asset === asset)?.amountText ?? '0';
  return { money: of('CNY'), points: of('POINTS') };
}

/** A prize draw as the caller sees it. */
export function draw(token, id) {
  return call('GET', `/v1/draws/${id}`, { token });
}

/** A rain as the caller sees it, with the drops that have fallen and what the caller caught. */
export function rain(token, id) {
  return call('GET', `/v1/rains/${id}`, { token });
}

/** A page of the caller's plays, newest first: `{items, next}`. */
export function plays(token, id, cursor) {
  return call('GET', `/v1/draws/${id}/plays?limit=10${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`, { token });
}

/** A page of the caller's records, newest first: `{items, next}`. */
export function records(token, cursor) {
  return call('GET', `/v1/me/transfers?limit=20${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`, { token });
}

/** The caller's sums from a time on, and before another: `{received, sent}`, by asset. */
export function summary(token, { from, to }) {
  return call('GET', `/v1/me/summary?from=${from}&to=${to}`, { token });
}

/** A page of what the caller claimed in a time, the newest first: `{items, next}`. */
export function received(token, { from, to }, cursor) {
  return call('GET', `/v1/me/claims?limit=20&from=${from}&to=${to}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`, { token });
}

/** A page of what the caller sent in a time, and of the pools that it opened, newest first: `{items, next}`. */
export function sent(token, { from, to }, cursor) {
  return call('GET', `/v1/me/packets?limit=20&from=${from}&to=${to}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`, { token });
}

/** A packet as the caller sees it. */
export function packet(token, id) {
  return call('GET', `/v1/packets/${id}`, { token });
}

/** A page of a packet's claims, the first without a cursor: `{items, next, luckiest}`. */
export function claims(token, id, cursor) {
  return call('GET', `/v1/packets/${id}/claims?limit=100${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`, { token });
}
