/**
 * The rain (红包雨): it opens over the chat, counts down, lets envelopes fall, which a tap catches, and shows a result at the end. A bar in the
 * chat opens it again. With reduced motion the envelopes stand in rows.
 * @module
 */
import { envelope, html, isStill, useEffect, useNow, useRef, useState } from './ui.js';
import { Dialog } from './dialog.js';
import { Fairness } from './fairness.js';
import { duration, money } from './format.js';
import { problemText, t } from './texts.js';
import { now } from './time.js';

/** The milliseconds before its start at which a rain opens by itself. */
const COUNTDOWN_MILLIS = 10_000;

/**
 * The bar above the composer while a rain is announced or falls. It opens the rain once by itself: for the last seconds before the start, or
 * at once when it falls already.
 * @param {{rain: object, busy: boolean, onOpen: () => void}} props `busy` while something else is on the screen that must not be covered
 */
export function RainBar({ rain, busy, onOpen }) {
  useNow();
  const phase = rain.phase();
  const opened = useRef(false);
  const due = phase === 'falling' || (phase === 'waiting' && Date.parse(rain.told.startsAt) - now() <= COUNTDOWN_MILLIS);
  useEffect(() => {
    if (due && !busy && !rain.full && !opened.current) {
      opened.current = true;
      onOpen();
    }
  }, [due, busy]);
  return html`<button type="button" class="rain-bar ${phase}" data-rain=${rain.id} data-phase=${phase} onClick=${onOpen}>
    ${envelope}<span class="rain-name">${rain.told.name}</span><b>${countdown(rain, phase)}</b></button>`;
}

/** The sum that a rain gave, for the timeline when it is over. */
export function rainText({ told, caught }) {
  return t('rainOver', told.name, caught.count, money(caught.amount, told.asset));
}

/** @param {{rain: object, room: object, onClose: () => void}} props */
export function RainStage({ rain, room, onClose }) {
  useNow(rain.endedAt === null);
  const [said, setSaid] = useState('');
  const [trouble, setTrouble] = useState('');
  const phase = rain.phase();
  const mine = rain.mine;
  useEffect(() => {
    if (mine.length > 0) {
      setSaid(t('rainCaught', money(mine.at(-1).amount, rain.told.asset)));
    }
  }, [mine.length]);
  const tap = (id) => {
    setTrouble('');
    rain.tap(id).catch((refused) => setTrouble(problemText(refused.kind, refused.message)));
  };
  return html`<${Dialog} name="rain" title=${t('rainTitle', rain.told.name)} onClose=${onClose}>
    <header class="rain-head"><h2 tabindex="-1" autofocus>${rain.told.name}</h2><p>${headline(rain, phase)}</p></header>
    <div class="sky ${isStill() ? 'still' : ''}" data-phase=${phase}>
      ${phase === 'waiting' && html`<p class="rain-clock" role="timer">${countdown(rain, phase)}</p>`}
      ${phase === 'ended' || phase === 'over' ? html`<${Result} rain=${rain} room=${room} />`
    : rain.drops.filter((drop) => drop.state !== 'gone')
      .map((drop, i) => html`<${Drop} key=${drop.id} drop=${drop} rain=${rain} number=${i + 1} onTap=${tap} />`)}
    </div>
    <footer class="rain-foot"><span data-caught=${mine.length}>${t('rainMine', mine.length, rain.told.catchesPerUser, money(sum(mine), rain.told.asset))}</span>
      <span>${t('rainAll', rain.caught.count)}</span></footer>
    ${trouble && html`<p class="alert rain-trouble" role="alert">${trouble}</p>`}
    <p class="unseen" role="status" aria-live="polite">${said}</p>
  <//>`;
}

function Drop({ drop, rain, number, onTap }) {
  const claim = drop.state === 'won' && rain.mine.find(({ packet }) => packet === drop.id);
  return html`<button type="button" class="drop ${drop.state}" data-drop=${drop.id} data-state=${drop.state} style=${course(drop.id)}
    aria-label=${claim ? t('rainCaught', money(claim.amount, claim.asset)) : t('rainDrop', number)}
    aria-disabled=${drop.state !== 'falling' || rain.full} onClick=${() => onTap(drop.id)}>
    ${claim ? html`<b>${money(claim.amount, claim.asset)}</b>` : envelope}</button>`;
}

/** The place and the speed of a drop: for the eye only, from the id's last digits, which are random. */
function course(id) {
  const digit = (from, to) => parseInt(id.slice(from, to), 16) / (16 ** (to - from) - 1);
  return {
    '--x': `${Math.round(digit(-4, -2) * 84)}%`, '--rest': `${Math.round(52 + digit(-6, -4) * 30)}%`,
    '--time': `${(1.8 + digit(-8, -6) * 1.6).toFixed(2)}s`, '--tilt': `${Math.round(digit(-10, -8) * 50 - 25)}deg`,
  };
}

function Result({ rain, room }) {
  const mine = rain.mine;
  return html`<div class="rain-result" data-result=${mine.length}>
    ${mine.length > 0 ? html`<p class="soft">${t('rainYouCaught', mine.length)}</p><p class="amount" data-amount=${sum(mine)}>${money(sum(mine), rain.told.asset)}</p>`
    : html`${envelope}<p>${t('rainNothing')}</p>`}
    <p class="soft">${rain.endedAt === null ? t('rainCounting') : rainText(rain)}</p>
    ${rain.endedAt !== null && html`<${Fairness} of="rainFair" verify=${() => room.verifyRain(rain)} />`}
    ${mine.length > 0 && !isStill() && html`<div class="coins" aria-hidden="true">${Array.from({ length: 14 }, () => html`<i></i>`)}</div>`}
  </div>`;
}

function headline(rain, phase) {
  if (phase === 'falling') {
    return rain.full ? t('rainFull') : t('rainTap');
  }
  return t({ waiting: 'rainSoon', over: 'rainCounting', ended: 'rainEnded' }[phase]);
}

function countdown(rain, phase) {
  const left = (time) => duration((Date.parse(time) - now()) / 1000);
  switch (phase) {
    case 'waiting':
      return t('rainIn', left(rain.told.startsAt));
    case 'falling':
      return t('rainFalls');
    default:
      return t('rainCounting');
  }
}

function sum(claims) {
  return claims.reduce((all, claim) => all + claim.amount, 0);
}
