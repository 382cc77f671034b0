/**
 * The members' names and faces: what the host says of them (`profiles`), a drawn face for the demo family, else the first letter on a
 * colour.
 * @module
 */
import { html, useState } from './ui.js';
import { language } from './texts.js';

/** By user id: a map, since a user may be called `constructor`. `hair` names a path below; `glasses` and `beard` add to it. */
const FAMILY = new Map(Object.entries({
  'demo-mei': { en: 'Mei', zh: '小梅', sky: '#ffd7d2', skin: '#f7d2b4', tone: '#3a2621', hair: 'long', shirt: '#d6453a' },
  'demo-lei': { en: 'Lei', zh: '阿磊', sky: '#cfe3f6', skin: '#eebf98', tone: '#20191a', hair: 'short', shirt: '#2f6fae' },
  'demo-fang': { en: 'Fang', zh: '芳芳', sky: '#e7dcf5', skin: '#f9dcc4', tone: '#5a3526', hair: 'tails', shirt: '#7f5bb0' },
  'demo-jun': { en: 'Jun', zh: '俊哥', sky: '#d5ecd9', skin: '#e8b58c', tone: '#2a2020', hair: 'quiff', shirt: '#3d8a57', glasses: true },
  'demo-anna': { en: 'Anna', zh: '安娜', sky: '#fdeebf', skin: '#fbe0cc', tone: '#c98a3b', hair: 'long', shirt: '#e0902f' },
  'demo-ben': { en: 'Ben', zh: '小本', sky: '#cdeceb', skin: '#a9714b', tone: '#1c1413', hair: 'curls', shirt: '#1f8a8a' },
  'demo-grandma': { en: 'Grandma', zh: '奶奶', sky: '#f4dfe8', skin: '#f2cdb0', tone: '#b9b4b2', hair: 'bun', shirt: '#a83d64', glasses: true },
  'demo-uncle': { en: 'Uncle', zh: '二叔', sky: '#e6e2d3', skin: '#e3b088', tone: '#4a4240', hair: 'bald', shirt: '#6b5d48', beard: true },
}));

const HAIR = {
  long: (tone) => html`<path fill=${tone} d="M12 31c0-13 3-22 12-22s12 9 12 22l-4 5V22c-4 0-9-2-11-5-1 3-3 5-5 6v13z" />`,
  short: (tone) => html`<path fill=${tone} d="M13.5 23c-1-9 3-14 10.5-14S35.5 14 34.5 23c-1-3-2-5-3.5-6-5 1.5-9 1-12-.5-2 1-4 3-5.5 6.500z" />`,
  tails: (tone) => html`<g fill=${tone}><circle cx="10.5" cy="24" r="4.5" /><circle cx="37.5" cy="24" r="4.5" />
    <path d="M13 22c0-9 4-13 11-13s11 4 11 13c-3-1-5-3-6-5-3 3-10 5-16 5z" /></g>`,
  quiff: (tone) => html`<path fill=${tone} d="M13.5 23c-2-8 1-12 5-13 5-3 14-2 15.5 3 2 3 1.5 7 .5 10-1-3-2-5-4-6-5 0-9-.5-11-2-2 1-4 4-6 8z" />`,
  curls: (tone) => html`<g fill=${tone}><circle cx="15.5" cy="16" r="4.5" /><circle cx="20" cy="11.5" r="4.5" />
    <circle cx="27" cy="11" r="4.8" /><circle cx="32.5" cy="15.5" r="4.5" /><path d="M13 21l4-7h14l4 7-5-3H18z" /></g>`,
  bun: (tone) => html`<g fill=${tone}><circle cx="24" cy="7.5" r="4.5" />
    <path d="M13 24c-1-10 4-15 11-15s12 5 11 15c-1-4-4-8-11-8s-10 4-11 8z" /></g>`,
  bald: (tone) => html`<path fill=${tone} d="M13.5 25c-.8-2-.8-5 0-7l2 3zM34.5 25c.8-2 .8-5 0-7l-2 3z" />`,
};

/** The host's profiles of users, by user id, as far as this tab has them. */
const PROFILES = new Map();

/** Origins that this page may load pictures from: the server allows no others. */
const IMAGES = new Set(document.querySelector('meta[name="images"]').content.split(' ').filter(Boolean));

/** Takes the `profiles` of an answer or an event, if there are some. */
export function learn(profiles) {
  Object.entries(profiles ?? {}).forEach(([user, profile]) => PROFILES.set(user, profile));
}

/** A member's name; one of the demo family's in the language in use, unless the host says another one. */
export function nameOf(user) {
  const told = PROFILES.get(user)?.displayName;
  const drawn = FAMILY.get(user);
  return drawn && (!told || told === drawn.en || told === drawn.zh) ? drawn[language()] : told ?? user;
}

/** A picture's URL where the page may load it; else null, as of a URL that no browser can read. @param {string|null|undefined} url */
export function allowedPicture(url) {
  try {
    return IMAGES.has(new URL(url).origin) ? url : null;
  } catch {
    return null;
  }
}

/** @param {{user: string, size?: string}} props `size` is a class: small, large */
export function Face({ user, size = '' }) {
  const look = FAMILY.get(user);
  const picture = allowedPicture(PROFILES.get(user)?.avatar);
  const [missing, setMissing] = useState(null);
  return html`<span class="face ${size}" aria-hidden="true">${picture && picture !== missing
    ? html`<img src=${picture} alt="" loading="lazy" referrerpolicy="no-referrer" onError=${() => setMissing(picture)} />`
    : look ? drawn(look) : lettered(user)}</span>`;
}

function drawn(look) {
  return html`<svg viewBox="0 0 48 48">
    <rect width="48" height="48" fill=${look.sky} />
    ${look.hair === 'long' && html`<path fill=${look.tone} d="M11 40c-1-14 0-30 13-30s14 16 13 30z" />`}
    <path fill=${look.shirt} d="M8 48c0-9 7-13 16-13s16 4 16 13z" />
    <path fill=${look.skin} d="M20 30h8v7c-1.5 2-6.5 2-8 0z" />
    <ellipse fill=${look.skin} cx="24" cy="23" rx="10.5" ry="11.5" />
    ${look.beard && html`<path fill=${look.tone} d="M14.5 26c1 8 5 10.5 9.5 10.500S32.5 34 33.5 26c-2 2-4 2.5-5.5 2.500h-8c-1.5 0-3.5-.5-5.5-2.500z" />`}
    ${HAIR[look.hair](look.tone)}
    <g fill="#2b1b17"><circle cx="20" cy="23.5" r="1.4" /><circle cx="28" cy="23.5" r="1.4" /></g>
    <path class="smile" d="M20.5 28.500c1.8 2.4 5.2 2.4 7 0" stroke=${look.beard ? '#fff4ea' : '#8c3b2d'} />
    <g fill="#ef8f7d" opacity=".45"><circle cx="17" cy="27.5" r="2" /><circle cx="31" cy="27.5" r="2" /></g>
    ${look.glasses && html`<g class="glasses"><circle cx="20" cy="23.5" r="3.6" /><circle cx="28" cy="23.5" r="3.6" /><path d="M23.3 23h1.4" /></g>`}
  </svg>`;
}

function lettered(user) {
  let hue = 0;
  for (const letter of user) {
    hue = (hue * 31 + letter.codePointAt(0)) % 360;
  }
  return html`<svg viewBox="0 0 48 48"><rect width="48" height="48" fill=${`hsl(${hue} 45% 45%)`} />
    <text x="24" y="32" text-anchor="middle" font-size="24" fill="#fff">${[...nameOf(user)][0].toUpperCase()}</text></svg>`;
}
