/**
 * The form that sends a packet.
 * @module
 */
import { html, useRef, useState } from './ui.js';
import { Dialog } from './dialog.js';
import { Face, nameOf } from './faces.js';
import { duration, money } from './format.js';
import { MAX_COUNT, check } from './rules.js';
import { problemText, t } from './texts.js';
import { now } from './time.js';

const KINDS = ['lucky', 'equal', 'exclusive'];
const SPLITS = { 'double-mean': 'splitDoubleMean', inflate: 'splitInflate', 'even-luck': 'splitEvenLuck' };
const EXPIRIES = [10, 60, 600, 3600, 86_400, 259_200, 604_800];
/** Fields that stand in the folded part. */
const FOLDED = ['split', 'min', 'max', 'passcode', 'opensAt', 'expiry'];
/** The server's names of fields that differ from the form's. */
const FIELD_OF = new Map([['expiresInSeconds', 'expiry']]);
const EMPTY = {
  kind: 'lucky', amount: '8.88', count: '3', greeting: '', recipients: [], split: 'double-mean',
  min: '', max: '', passcode: '', opensAt: '', expiry: '86400',
};

/** A number is selected when it gets the focus, so that typing replaces it. A press of the mouse would set the caret after that. */
const SELECTED = {
  onFocus: (event) => event.target.select(),
  onMouseDown: (event) => {
    if (document.activeElement !== event.target) {
      event.preventDefault();
      event.target.focus();
    }
  },
};

/** @param {{room: object, onClose: () => void}} props */
export function Compose({ room, onClose }) {
  const [form, setForm] = useState(EMPTY);
  const [touched, setTouched] = useState(false);
  const [problem, setProblem] = useState(null);
  const [sending, setSending] = useState(false);
  const [unfolded, setUnfolded] = useState(false);
  const element = useRef(null);

  const { body, errors, each } = check(form, { group: room.group, balance: room.balance, now: now() });
  const shown = { ...(problem?.fields ?? {}), ...(touched ? errors : early(form, errors)) };
  const set = (name) => (event) => {
    setForm({ ...form, [name]: event.target.value });
    setProblem(null);
  };
  const named = (recipients) => setForm({ ...form, recipients, count: String(Math.max(1, recipients.length)) });

  const submit = async (event) => {
    event.preventDefault();
    setTouched(true);
    const wrong = Object.keys(errors);
    if (wrong.length > 0) {
      setUnfolded(unfolded || wrong.some((name) => FOLDED.includes(name)));
      requestAnimationFrame(() => element.current.querySelector('[aria-invalid=true]')?.focus());
      return;
    }
    setSending(true);
    try {
      await room.send(body);
      if (element.current) { // else it was closed meanwhile
        onClose();
      }
    } catch (refused) {
      setProblem(told(refused));
      setSending(false);
    }
  };

  const field = { form, set, shown };
  return html`<${Dialog} name="compose" title=${t('formTitle')} onClose=${onClose}>
    <form class="form" ref=${element} onSubmit=${submit} novalidate>
      <h2>${t('formTitle')}</h2>
      <${Kinds} form=${form} set=${set} />
      ${form.kind === 'exclusive' && html`<${Recipients} room=${room} form=${form} shown=${shown} onChange=${named} />`}
      <div class="pair">
        <${Field} ...${field} name="amount" label=${t(form.kind === 'equal' ? 'formAmountEach' : 'formAmount')} unit=${t('yuan')} mode="decimal" focus />
        <${Field} ...${field} name="count" label=${t('formCount')} hint=${t('formCountHint', MAX_COUNT.toLocaleString('en'))} mode="numeric" />
      </div>
      <${Field} ...${field} name="greeting" label=${t('formGreeting')} placeholder=${t('defaultGreeting')}
        hint=${t('formGreetingHint', 100 - [...form.greeting].length)} />
      <details class="more" open=${unfolded} onToggle=${(event) => setUnfolded(event.target.open)}><summary>${t('formMore')}</summary>
        <${MoreRules} field=${field} /></details>
      ${problem && html`<p class="alert" role="alert">${problem.text}</p>`}
      <p class="summary" aria-live="polite">${summary(body, each)}</p>
      <button class="submit" disabled=${sending}>${sending ? t(room.line === 'open' ? 'formSending' : 'statusOffline') : t('formSubmit', body.amount ? money(body.amount) : '')}</button>
    </form>
  <//>`;
}

/** Before the first try, only what was typed is judged: an empty field is not wrong yet. */
function early(form, errors) {
  return Object.fromEntries(Object.entries(errors).filter(([name]) => name !== 'recipients' && form[name] !== ''));
}

function told(refused) {
  const fields = {};
  for (const fault of refused.problem.errors ?? []) {
    const field = fault.pointer.split('/').pop();
    fields[FIELD_OF.get(field) ?? field] = fault.detail;
  }
  return { text: problemText(refused.reason, refused.message), fields };
}

function summary(body, each) {
  if (!each) {
    return '';
  }
  return each.low === each.high
    ? t('summaryEqual', money(body.amount), body.count, money(each.low))
    : t('summary', money(body.amount), body.count, money(each.low), money(each.high));
}

function Kinds({ form, set }) {
  return html`<fieldset class="kinds"><legend>${t('formKind')}</legend>
    <div>${KINDS.map((kind) => {
      const name = kind[0].toUpperCase() + kind.slice(1);
      return html`<label key=${kind}><input type="radio" name="kind" value=${kind} checked=${form.kind === kind} onChange=${set('kind')} />
        <span>${t(`kind${name}`)}</span></label>`;
    })}</div>
    <p class="hint">${t(`kind${form.kind[0].toUpperCase()}${form.kind.slice(1)}Hint`)}</p></fieldset>`;
}

function Recipients({ room, form, shown, onChange }) {
  const others = room.members.filter((member) => member !== room.me);
  const toggle = (member) => () => onChange(
    form.recipients.includes(member) ? form.recipients.filter((each) => each !== member) : [...form.recipients, member],
  );
  return html`<fieldset class="recipients" aria-describedby="recipients-error"><legend>${t('formRecipients')}</legend>
    <div>${others.map((member, i) => html`<label key=${member}><input type="checkbox" name="recipients" value=${member}
      aria-invalid=${i === 0 && Boolean(shown.recipients)} checked=${form.recipients.includes(member)} onChange=${toggle(member)} />
      <${Face} user=${member} size="small" /><span>${nameOf(member)}</span></label>`)}</div>
    <p class="error" id="recipients-error">${shown.recipients}</p></fieldset>`;
}

function MoreRules({ field }) {
  const { form, set } = field;
  return html`${form.kind !== 'equal' && html`
      <label class="field"><span class="label">${t('formSplit')}</span>
        <select name="split" value=${form.split} onChange=${set('split')}>
          ${Object.keys(SPLITS).map((split) => html`<option key=${split} value=${split}>${t(SPLITS[split])}</option>`)}</select></label>
      <div class="pair">
        <${Field} ...${field} name="min" label=${t('formMin')} unit=${t('yuan')} hint=${t('formMinHint')} mode="decimal" />
        <${Field} ...${field} name="max" label=${t('formMax')} unit=${t('yuan')} hint=${t('formMaxHint')} mode="decimal" />
      </div>`}
    <${Field} ...${field} name="passcode" label=${t('formPasscode')} hint=${t('formPasscodeHint')} />
    <div class="pair times">
      <${Field} ...${field} name="opensAt" type="datetime-local" label=${t('formOpensAt')} hint=${t('formOpensAtHint')} />
      <label class="field"><span class="label">${t('formExpiry')}</span>
        <select name="expiry" value=${form.expiry} onChange=${set('expiry')} aria-describedby="expiry-hint">
          ${EXPIRIES.map((seconds) => html`<option key=${seconds} value=${seconds}>${duration(seconds)}</option>`)}</select>
        <small class="hint" id="expiry-hint">${t('formExpiryHint')}</small></label>
    </div>`;
}

function Field({ form, set, shown, name, label, hint = '', unit = '', placeholder = '', type = 'text', mode = 'text', focus = false }) {
  const error = shown[name];
  return html`<label class="field ${error ? 'wrong' : ''}"><span class="label">${label}</span>
    <span class="input"><input name=${name} type=${type} inputmode=${mode} value=${form[name]} placeholder=${placeholder} autocomplete="off"
      autofocus=${focus} ...${mode === 'text' ? {} : SELECTED} aria-invalid=${Boolean(error)} aria-describedby=${`${name}-hint`} onInput=${set(name)} />${unit && html`<i>${unit}</i>`}</span>
    <small class=${error ? 'error' : 'hint'} id=${`${name}-hint`}>${error || hint}</small></label>`;
}
