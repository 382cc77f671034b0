/**
 * The wheel (转盘): a prize draw to play with points. The server has decided, and paid, before the wheel turns; the page only
 * shows where it stops.
 * @module
 */
import { html, isStill, useEffect, usePages, useRef, useState } from './ui.js';
import { Dialog } from './dialog.js';
import { clock, money } from './format.js';
import { problemText, t } from './texts.js';
import { described, lookOf, PrizeIcon, prizeName, prizeNames, WheelFace, worth } from './wheel-face.js';

const TURN_MILLIS = 4200;
const TURNS = 6;
/** At once: 十连抽. */
const TEN = 10;

/** @param {{room: object, onClose: () => void}} props */
export function Wheel({ room, onClose }) {
  const [step, setStep] = useState('still');
  const [plays, setPlays] = useState([]);
  const [trouble, setTrouble] = useState('');
  const rotor = useRef(null);
  const angle = useRef(0);
  const there = useRef(true);
  useEffect(() => {
    room.lookAtDraw();
    return () => {
      there.current = false;
      room.reveal();
    };
  }, []);

  const draw = room.draw;
  const spin = async (count) => {
    if (step !== 'still') {
      return;
    }
    setStep('asking');
    setTrouble('');
    setPlays([]);
    try {
      const won = await room.play(count);
      if (there.current) {
        setStep('turning');
        await turn(rotor.current, angle, draw.prizes, won.reduce((best, play) => (worth(play) > worth(best) ? play : best)));
        setPlays(won.map((play) => described(play, draw.prizes)));
      }
    } catch (refused) {
      setTrouble(told(refused));
    }
    room.reveal();
    setStep('still');
  };

  return html`<${Dialog} name="wheel" title=${t('wheelTitle')} onClose=${onClose}>
    <header class="wheel-head"><h2>${t('wheelTitle')}</h2>
      <p class="wheel-purse"><span class="points" data-points=${room.points}>${room.points === null ? '…' : money(room.points, 'POINTS')}</span>
        ${draw && chances(draw) !== null && html`<span class="chances" data-chances=${chances(draw)}>${t('chances', chances(draw))}</span>`}</p></header>
    ${draw === null ? html`<p class="soft wheel-loading">${t('loading')}</p>` : html`
      <${Stage} draw=${draw} rotor=${rotor} step=${step} plays=${plays} onSpin=${() => spin(1)} />
      <div class="spins">
        <${Spin} draw=${draw} room=${room} step=${step} count=${1} onSpin=${spin} />
        <${Spin} draw=${draw} room=${room} step=${step} count=${TEN} onSpin=${spin} /></div>
      ${trouble && html`<p class="alert wheel-trouble" role="alert">${trouble}</p>`}
      <${Won} plays=${plays} step=${step} />
      <${History} room=${room} prizes=${draw.prizes} />`}
  <//>`;
}

function Stage({ draw, rotor, step, plays, onSpin }) {
  const best = plays.length > 0 && plays.reduce((a, b) => (worth(b) > worth(a) ? b : a));
  const lucky = plays.some((play) => lookOf(play) !== 'none');
  return html`<div class="stage ${step} ${lucky ? 'lucky' : ''}">
    <${WheelFace} prizes=${draw.prizes} rotor=${rotor} chosen=${best ? best.number - 1 : -1} />
    <button type="button" class="hub" tabindex="-1" aria-hidden="true" onClick=${onSpin}>${t('hubGlyph')}</button>
    ${lucky && !isStill() && html`<div class="coins" aria-hidden="true">${Array.from({ length: 14 }, () => html`<i></i>`)}</div>`}
  </div>`;
}

function Spin({ draw, room, step, count, onSpin }) {
  const price = draw.cost ? money(draw.cost.amount * count, draw.cost.asset) : t('free');
  const left = chances(draw);
  const poor = draw.cost && room.points !== null && room.points < draw.cost.amount * count;
  // Not `disabled` while it turns: the focus would be lost.
  const off = draw.status !== 'open' || poor || (left !== null && left < count);
  return html`<button type="button" class=${count === 1 ? 'spin one' : 'spin ten'} data-spin=${count} disabled=${off && step === 'still'}
    aria-disabled=${step !== 'still'} onClick=${() => onSpin(count)}>
    <b>${t(count === 1 ? 'spinOnce' : 'spinTen')}</b><small>${price}</small></button>`;
}

/** Tells a screen reader once, when the wheel has stopped, what was won. */
function Won({ plays, step }) {
  const wins = plays.filter((play) => lookOf(play) !== 'none');
  const said = wins.length > 0 ? t('wonAtWheel', prizeNames(wins)) : t(plays.length > 0 ? 'wonNothing' : 'wheelHint');
  return html`<div class="wheel-result" data-result=${plays.length}>
    <p class="wheel-said" role="status" aria-live="polite">${step === 'asking' || step === 'turning' ? t('turning') : said}</p>
    ${plays.length > 1 && html`<ul class="haul">${plays.map((play) => html`<li key=${play.seq} class="look-${lookOf(play)}">
      <${PrizeIcon} prize=${play} /><span>${prizeName(play)}</span></li>`)}</ul>`}
    ${each(plays.filter((play) => play.text || play.picture)).map((play) => html`<p class="prize-text" key=${play.number}>
      <${PrizeIcon} prize=${play} /><span><b>${prizeName(play)}</b> ${play.text}</span></p>`)}
    ${plays.filter((play) => play.code).map((play) => html`<p class="voucher" key=${play.seq}>${t('voucher', prizeName(play))} <code>${play.code}</code></p>`)}
  </div>`;
}

/** One play of each prize. */
function each(plays) {
  return [...new Map(plays.map((play) => [play.number, play])).values()];
}

function History({ room, prizes }) {
  const { items, more } = usePages((cursor) => room.plays(cursor), room.spins);
  return html`<section class="history" aria-label=${t('ownPlays')}>
    <h3>${t('ownPlays')}</h3>
    ${items?.length === 0 && html`<p class="soft small">${t('noPlays')}</p>`}
    <ul>${items?.map((play) => html`<li key=${play.seq} data-play=${play.seq}>
      <${PrizeIcon} prize=${described(play, prizes)} /><span class="history-what"><b>${prizeName(play)}</b>${play.code && html`<code>${play.code}</code>`}</span>
      <time datetime=${play.at}>${clock(play.at)}</time></li>`)}</ul>
    ${more && html`<button type="button" class="quiet-button" onClick=${more}>${t('more')}</button>`}
  </section>`;
}

/** Plays the viewer may still have; null for no limit. */
function chances({ chancesLeft, chancesLeftToday }) {
  const known = [chancesLeft, chancesLeftToday].filter((left) => left !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function told(refused) {
  return refused.reason === 'insufficient-funds' ? t('tooFewPoints') : problemText(refused.reason, refused.message);
}

/** Turns the wheel so that the play's prize is under the pointer; at once for who wants no movement. */
async function turn(rotor, angle, prizes, play) {
  const step = 360 / prizes.length;
  // Where within the prize's slice it stops, for the eye only: which prize it is, the server has decided.
  const within = (Math.random() - 0.5) * step * 0.6;
  const stop = 360 - (play.number - 0.5) * step + within;
  const from = angle.current % 360;
  const to = from + TURNS * 360 + ((stop - from) % 360 + 360) % 360;
  angle.current = to;
  if (!isStill()) {
    const frames = [{ transform: `rotate(${from}deg)` }, { transform: `rotate(${to}deg)` }];
    await rotor.animate(frames, { duration: TURN_MILLIS, easing: 'cubic-bezier(.15, .6, .1, 1)' }).finished.catch(() => {});
  }
  rotor.style.transform = `rotate(${to % 360}deg)`;
}
