/**
 * What the server counted: samples of the last ten minutes, and events.
 * @module
 */

/** Where each number stands in a sample; the first is its time. */
const NAMES = ['at', 'claims', 'p50', 'p99', 'unsettled', 'connections', 'sockets', 'open'];
const KEPT = 600;
/** A question without an answer for so long is given up: the server may be gone without a word. */
const ANSWER_MILLIS = 10_000;

/** The answer to a question to the server, as JSON; rejects when none comes. */
export async function fetchJson(path) {
  return (await answer(path)).json();
}

/** The same as text. */
export async function fetchText(path) {
  return (await answer(path)).text();
}

function answer(path) {
  return fetch(path, { signal: AbortSignal.timeout(ANSWER_MILLIS) });
}

export class Numbers {
  #samples = [];
  /** Newest first. @type {{at: number, kind: string, count: number}[]} */
  events = [];

  /** Asks for what is newer; rejects when the server does not answer. */
  async ask() {
    const after = this.#samples.at(-1)?.[0] ?? 0;
    const { samples, events } = await fetchJson(`/recent.json?after=${after}`);
    this.#samples = [...this.#samples, ...samples].slice(-KEPT);
    this.events = [...events.reverse(), ...this.events].slice(0, 100);
  }

  /** One number over time. @returns {(number|null)[]} */
  series(name) {
    const place = NAMES.indexOf(name);
    return this.#samples.map((sample) => (place === 0 ? sample[0] / 1000 : sample[place]));
  }

  /** The newest that is known; null for none. */
  last(name) {
    return this.series(name).findLast((value) => value !== null) ?? null;
  }
}
