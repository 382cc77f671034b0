/**
 * The moment of truth: an envelope that opens, the amount that counts up, and who else was there.
 * @module
 */
import { envelope, html, isStill, openEnvelope, useEffect, useRef, useState } from './ui.js';
import { Dialog } from './dialog.js';
import { Claims } from './detail.js';
import { Face, nameOf } from './faces.js';
import { Fairness } from './fairness.js';
import { money } from './format.js';
import { forWhom, giverOf, greetingOf, stateOf } from './packet.js';
import { t } from './texts.js';
import { now } from './time.js';

const COUNT_MILLIS = 900;
/** As long as the envelope's halves take to leave, see envelope.css. */
const LEAVE_MILLIS = 650;

/** The look of a refusal, by the end of the problem's type. */
const REFUSALS = new Map(Object.entries({
  drained: ['lateTitle', 'late'],
  expired: ['expiredTitle', 'expiredHint'],
  'not-eligible': ['notEligibleTitle', 'notEligible'],
  'not-open-yet': ['trouble', 'notOpenYet'],
  limited: ['limitedTitle', 'limited'],
  unknown: ['trouble', 'problemUnknown'],
  disconnected: ['trouble', 'problemDisconnected'],
  overloaded: ['trouble', 'problemOverloaded'],
  'set-aside': ['trouble', 'problemSetAside'],
  'too-many-requests': ['trouble', 'problemTooMany'],
}));

/**
 * @param {{packet: object, grab: boolean, room: object, onClose: () => void}} props `grab`: claim at once
 */
export function Opening({ packet, grab, room, onClose }) {
  const sealed = packet.mine === null && stateOf(packet, now()) === 'open';
  const [step, setStep] = useState(sealed ? 'sealed' : 'open');
  const [fresh, setFresh] = useState(false);
  const [refusal, setRefusal] = useState(null);
  const [{ page, of }, setSeen] = useState({ page: null, of: '' });
  const asking = useRef(false);
  const coin = useRef(null);
  const result = useRef(null);

  const claim = async (passcode) => {
    setStep('opening');
    setRefusal(null);
    try {
      const first = await room.claim(packet.id, passcode);
      setFresh(first);
    } catch (refused) {
      setRefusal(refused);
      if (refused.reason === 'wrong-passcode') {
        setStep('sealed');
        return;
      }
    }
    setStep('open');
  };
  useEffect(() => {
    if (grab && sealed && !packet.passcodeRequired) {
      claim();
    } else {
      coin.current?.focus();
    }
  }, []);
  const gone = step === 'open';
  useEffect(() => {
    if (gone) {
      result.current?.focus();
    }
  }, [gone]);
  // One at a time: a race tells more often than a slow line answers.
  const wanted = [packet.claimed.count, packet.status, packet.mine?.status, room.line].join();
  useEffect(() => {
    if (gone && !asking.current && of !== wanted) {
      asking.current = true;
      const answered = (found) => {
        asking.current = false;
        setSeen({ page: found, of: wanted });
      };
      room.claims(packet.id).then(answered, () => answered(page));
    }
  }, [gone, wanted, of]);

  return html`<${Dialog} name="opening" title=${t('packetFrom', nameOf(giverOf(packet)))} onClose=${onClose}>
    ${(gone || step === 'opening') && html`<${Result} packet=${packet} page=${page} fresh=${fresh} refusal=${refusal} room=${room}
      shown=${gone} focus=${result} />`}
    <${Cover} packet=${packet} step=${step} refusal=${refusal} coin=${coin} onClaim=${claim} />
  <//>`;
}

function Cover({ packet, step, refusal, coin, onClaim }) {
  const [there, setThere] = useState(step !== 'open');
  const [passcode, setPasscode] = useState('');
  useEffect(() => {
    if (step !== 'open') {
      return undefined;
    }
    const timer = setTimeout(() => setThere(false), isStill() ? 0 : LEAVE_MILLIS);
    return () => clearTimeout(timer);
  }, [step]);
  if (!there) {
    return null;
  }
  const submit = (event) => {
    event.preventDefault();
    onClaim(packet.passcodeRequired ? passcode : undefined);
  };
  return html`<form class="cover ${step}" onSubmit=${submit}>
    <div class="pocket"></div>
    <div class="flap">
      <${Face} user=${giverOf(packet)} />
      <p class="from">${t('packetFrom', nameOf(giverOf(packet)))}</p>
      <p class="wish">${greetingOf(packet)}</p>
    </div>
    <button class="big-coin" ref=${packet.passcodeRequired ? null : coin} disabled=${step !== 'sealed'} aria-label=${t('openLabel')}>
      <span aria-hidden="true">${t('openGlyph')}</span></button>
    ${packet.passcodeRequired && html`<label class="secret"><span>${t('passcode')}</span>
      <input name="passcode" ref=${coin} value=${passcode} maxlength="64" autocomplete="off" required
        aria-invalid=${refusal !== null} aria-describedby="secret-hint" onInput=${(event) => setPasscode(event.target.value)} />
      <small id="secret-hint" role=${refusal ? 'alert' : undefined}>${t(refusal ? 'wrongPasscode' : 'passcodeHint')}</small></label>`}
  </form>`;
}

function Result({ packet, page, fresh, refusal, room, shown, focus }) {
  const mine = packet.mine;
  const [title, hint] = refusal ? (REFUSALS.get(refusal.reason) ?? ['trouble', '']) : verdict(packet);
  return html`<div class="result" data-outcome=${mine ? 'won' : (refusal?.reason ?? packet.status)}>
    <header class="result-head"><${Face} user=${giverOf(packet)} />
      <p class="from">${t('packetFrom', nameOf(giverOf(packet)))}</p><p class="wish">${greetingOf(packet)}</p>
      ${packet.recipients?.length > 0 && html`<p class="soft small for-whom">${forWhom(packet)}</p>`}</header>
    <div class="verdict" tabindex="-1" ref=${focus}>
      ${mine ? html`<${Amount} claim=${mine} counts=${fresh && shown} />
        <p class="soft">${t(mine.status === 'settled' ? 'wonHint' : 'settling')}</p>`
    : html`${title && (refusal?.reason === 'not-eligible' ? envelope : openEnvelope)}
        ${title && html`<h2>${t(title)}</h2>`}
        ${refusal || hint ? html`<p class="soft">${hint ? t(hint) : refusal.message}</p>` : null}`}
    </div>
    ${fresh && shown && !isStill() && html`<div class="coins" aria-hidden="true">${Array.from({ length: 14 }, () => html`<i></i>`)}</div>`}
    <${Claims} packet=${packet} page=${page} me=${room.me} />
    ${packet.status !== 'open' && html`<${Fairness} of="fair" verify=${() => room.verify(packet.id)} />`}
  </div>`;
}

function verdict(packet) {
  switch (packet.status) {
    case 'drained':
      return ['lateTitle', 'late'];
    case 'expired':
    case 'refunded':
      return ['expiredTitle', 'expiredHint'];
    case 'cancelled':
    case 'closed':
      return ['endedTitle', 'expiredHint'];
    default:
      return ['', ''];
  }
}

/** Counts up to the amount; a screen reader hears it once, whole. */
function Amount({ claim, counts }) {
  const [shown, setShown] = useState(counts && !isStill() ? 0 : claim.amount);
  useEffect(() => {
    if (!counts || isStill()) {
      setShown(claim.amount);
      return undefined;
    }
    const start = performance.now();
    let frame;
    const draw = (time) => {
      const part = Math.min(1, Math.max(0, (time - start) / COUNT_MILLIS));
      setShown(Math.round(claim.amount * (1 - (1 - part) ** 3)));
      if (part < 1) {
        frame = requestAnimationFrame(draw);
      }
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [counts, claim.amount]);
  return html`<p class="amount" data-amount=${claim.amount}><span aria-hidden="true">${money(shown, claim.asset)}</span>
    <span class="unseen">${t('won', money(claim.amount, claim.asset))}</span></p>`;
}
