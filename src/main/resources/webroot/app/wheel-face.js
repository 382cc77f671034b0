/**
 * The wheel as it is drawn: a rim with lamps, a segment for each prize, a pointer that stays. Only looks; who turns it, and
 * to which prize, is told by wheel.js.
 * @module
 */
import { allowedPicture } from './faces.js';
import { html } from './ui.js';
import { money, signOf } from './format.js';
import { t } from './texts.js';

const RADIUS = 132;
const LAMPS = 24;
/** Names that the page can say in both languages: those of the demo's wheel. */
const KNOWN = new Map([['Milk tea', 'prizeTea'], ['Thanks', 'prizeThanks']]);

/** A prize or a play's prize, as people say it. */
export function prizeName({ name, prize, asset, amount }) {
  if (asset) {
    return money(amount, asset);
  }
  const known = KNOWN.get(name ?? prize);
  return known ? t(known) : (name ?? prize);
}

/** The look of a prize: `money`, `points`, `item` or `none`. A prize that is not announced is none. */
export function lookOf({ name, prize, asset, code, picture, text }) {
  if (asset) {
    return asset === 'POINTS' ? 'points' : 'money';
  }
  if (KNOWN.get(name ?? prize) === 'prizeThanks') {
    return 'none';
  }
  return code || picture || text || KNOWN.get(name ?? prize) === 'prizeTea' ? 'item' : 'none';
}

/** The higher, the happier: what ten spins stop at. */
export function worth(play) {
  return { money: 3e14, item: 2e14, points: 1e14, none: 0 }[lookOf(play)] + (play.amount ?? 0);
}

/** Prizes in words: a name that comes twice is said once, with its number. */
export function prizeNames(prizes) {
  const counts = new Map();
  prizes.map(prizeName).forEach((name) => counts.set(name, (counts.get(name) ?? 0) + 1));
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} × ${count}`)).join(t('listComma'));
}

/** The host's words for a play's prize: its picture and its text are the draw's. */
export function described(play, prizes) {
  const { picture, text } = prizes.find((prize) => prize.number === play.number) ?? {};
  return { ...play, picture, text };
}

/** A small drawing of a prize, around the origin: its picture, where the page may load it. */
export function PrizeMark({ prize, big = false }) {
  const picture = allowedPicture(prize.picture);
  if (picture) {
    const half = big ? 16 : 15;
    return html`<image class="mark mark-picture" href=${picture} x=${-half} y=${-half} width=${2 * half} height=${2 * half} />`;
  }
  switch (lookOf(prize)) {
    case 'money':
      return html`<g class="mark mark-money"><circle r=${big ? 14 : 12} /><text y="5.5" text-anchor="middle">${signOf(prize.asset)}</text></g>`;
    case 'points':
      return html`<path class="mark mark-points" d="M0-13l3.8 8 8.7 1.1-6.4 6 1.7 8.700L0 6.600l-7.8 4.2 1.7-8.7-6.4-6L-3.8-5z" />`;
    case 'item':
      return html`<g class="mark mark-item"><path class="straw" d="M2-7l4-8" /><path class="cup" d="M-9-7H9L6.5 12h-13z" />
        <path class="tea" d="M-8 0H8L6.5 12h-13z" /><path class="lid" d="M-10.5-7h21" />
        <circle cx="-3" cy="8" r="1.6" /><circle cx="1.5" cy="9" r="1.6" /><circle cx="3.5" cy="5" r="1.6" /></g>`;
    default:
      return html`<g class="mark mark-none"><circle r="11" /><path d="M-4.5 2.500c2.2 3.4 6.8 3.4 9 0" />
        <path class="eyes" d="M-4-3v.1M4-3v.1" /></g>`;
  }
}

/** A prize's mark in a box of its own. */
export function PrizeIcon({ prize }) {
  return html`<svg class="prize-icon" viewBox="-16 -17 32 34" aria-hidden="true"><${PrizeMark} prize=${prize} big /></svg>`;
}

/** @param {{prizes: object[], rotor: object, chosen: number}} props `chosen`: the segment that won, or -1 */
export function WheelFace({ prizes, rotor, chosen }) {
  const step = 360 / prizes.length;
  const best = prizes.reduce((a, b) => (worth(b) > worth(a) ? b : a));
  const label = t('wheelLabel', prizeNames(prizes));
  return html`<svg class="wheel-face" viewBox="-160 -168 320 332" role="img" aria-label=${label}>
    <defs>
      <radialGradient id="rim" cx=".38" cy=".3" r=".85">
        <stop class="rim-light" offset="0" /><stop class="rim-mid" offset=".55" /><stop class="rim-deep" offset="1" />
      </radialGradient>
      <radialGradient id="gloss" cx=".5" cy=".12" r=".9"><stop class="gloss-in" offset="0" /><stop class="gloss-out" offset=".6" /></radialGradient>
    </defs>
    <circle class="rim" r="154" fill="url(#rim)" />
    <circle class="rim-inner" r="138" />
    <g class="lamps">${Array.from({ length: LAMPS }, (_, i) => html`<circle key=${i} class="lamp" r="4.2" cy="-146" transform=${`rotate(${(i + 0.5) * (360 / LAMPS)})`} />`)}</g>
    <g class="rotor" ref=${rotor}>
      ${prizes.map((prize, i) => html`<g key=${i} class="segment ${prize === best ? 'grand' : shade(i, prizes.length)} ${i === chosen ? 'chosen' : ''}" transform=${`rotate(${(i + 0.5) * step})`}>
        <path class="slice" d=${slice(step)} />
        <text class="segment-text" y="-101" text-anchor="middle">${short(prizeName(prize))}</text>
        <g transform="translate(0 -72)"><${PrizeMark} prize=${prize} /></g>
      </g>`)}
      ${prizes.map((_, i) => html`<circle key=${i} class="pin" r="3.2" cy=${-RADIUS} transform=${`rotate(${i * step})`} />`)}
    </g>
    <circle class="gloss" r=${RADIUS} fill="url(#gloss)" />
    <path class="pointer" d="M-15-164h30l-3.5 16L0-119l-11.5-29z" /><circle class="pointer-jewel" cy="-153" r="5" />
  </svg>`;
}

function shade(i, length) {
  return length % 2 === 1 && i === length - 1 ? 'third' : ['first', 'second'][i % 2];
}

/** A slice of so many degrees, its middle at the top. */
function slice(degrees) {
  const half = (degrees / 2) * (Math.PI / 180);
  const x = (RADIUS * Math.sin(half)).toFixed(2);
  const y = (-RADIUS * Math.cos(half)).toFixed(2);
  return degrees >= 360 ? `M0-${RADIUS}a${RADIUS} ${RADIUS} 0 1 1-.1 0z` : `M0 0L-${x} ${y}A${RADIUS} ${RADIUS} 0 0 1 ${x} ${y}z`;
}

function short(text) {
  const letters = [...text];
  return letters.length > 11 ? `${letters.slice(0, 10).join('')}…` : text;
}
