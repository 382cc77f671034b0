/**
 * The operator's page: asks once a second, and says so when nobody answers.
 * @module
 */
import { showAbout, showHealth } from './health.js';
import { Numbers } from './numbers.js';
import { PLOTS, plot, tile } from './plots.js';

const TILES = [
  ['claims', 'claims a second', ''],
  ['p50', 'settled within, half of them', ' ms'],
  ['p99', 'settled within, 99 %', ' ms'],
  ['unsettled', 'journal entries unsettled', ''],
  ['connections', 'HTTP connections', ''],
  ['sockets', 'sockets', ''],
  ['open', 'open packets', ''],
];
const EVENTS = {
  recovery: 'A shard was recovered: a new generation was drawn',
  'settlement-failed': 'A settling transaction failed and was tried again',
  void: 'A journal item contradicted a settled one: look into it',
  'unknown-answer': 'A claim was answered with “unknown”',
  'server-error': 'An HTTP answer was a 5xx',
};
const ASK_MILLIS = 1000;
const HEALTH_EVERY = 5;

const numbers = new Numbers();
const shows = [];
let asked = 0;

function health(state, text) {
  const element = document.getElementById('health');
  element.dataset.health = state;
  element.textContent = text;
}

function showEvents() {
  document.getElementById('no-events').hidden = numbers.events.length > 0;
  document.getElementById('events').replaceChildren(...numbers.events.map(({ at, kind, count }) => {
    const item = document.createElement('li');
    item.dataset.kind = kind;
    const time = document.createElement('time');
    time.dateTime = new Date(at).toISOString();
    time.textContent = new Date(at).toLocaleTimeString('en-GB');
    const text = document.createElement('span');
    text.textContent = `${EVENTS[kind] ?? kind}${count > 1 ? ` (${count} times)` : ''}`;
    item.append(time, text);
    return item;
  }));
}

async function askHealth() {
  const down = await showHealth();
  health(down.length === 0 ? 'up' : 'down', down.length === 0 ? 'ready' : `not ready: ${down.join(', ')}`);
}

async function ask() {
  try {
    const before = numbers.events.length + (numbers.events[0]?.at ?? 0);
    await numbers.ask();
    shows.forEach((show) => show(numbers));
    if (before !== numbers.events.length + (numbers.events[0]?.at ?? 0)) {
      showEvents();
    }
    if (asked++ % HEALTH_EVERY === 0) {
      await askHealth();
      await showAbout();
    }
  } catch {
    asked = 0;
    health('gone', 'no answer');
  }
  setTimeout(ask, ASK_MILLIS);
}

addEventListener('DOMContentLoaded', () => {
  const tiles = document.getElementById('tiles');
  const plots = document.getElementById('plots');
  shows.push(...TILES.map(([name, label, unit]) => tile(name, label, unit, tiles)), ...PLOTS.map((each) => plot(each, plots)));
  ask();
});
