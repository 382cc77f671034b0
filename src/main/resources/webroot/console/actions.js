/**
 * What can be done: a button, and a dialog that asks for what the call takes. Nothing is done without the dialog.
 * @module
 */
import { ProblemError } from '../app/api.js';
import { cross, html, useLayoutEffect, useRef, useState } from '../app/ui.js';
import { newKey } from './calls.js';
import { Fields, valuesOf } from './fields.js';
import { t, Told } from './texts.js';
import { money, Thing } from './values.js';

/** The definition as written, so that it is tried and then made. */
const drafts = new Map();

/** Why something was not done. */
export function Refusal({ fault }) {
  if (!(fault instanceof ProblemError)) {
    return html`<p class="alert" role="alert">${fault instanceof Told || fault instanceof SyntaxError ? fault.message : t('noAnswer')}</p>`;
  }
  const { title, detail, errors = [] } = fault.problem;
  return html`<div class="alert" role="alert"><b>${title}</b>
    ${errors.length === 0 ? html`<p>${detail}</p>` : html`<ul>${errors.map((each) => html`<li key=${each.pointer}><code>${each.pointer}</code> ${each.detail}</li>`)}</ul>`}</div>`;
}

function Dialog({ title, onClose, children }) {
  const ref = useRef(null);
  useLayoutEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (opener?.isConnected) {
        opener.focus();
      }
    };
  }, []);
  const cancelled = (event) => {
    event.preventDefault();
    onClose();
  };
  return html`<dialog class="dialog" ref=${ref} aria-label=${title} onCancel=${cancelled}><div class="sheet">
    <button class="close" type="button" onClick=${onClose} aria-label=${t('close')}>${cross}</button>${children}</div></dialog>`;
}

function Ask({ action, session, ids, row, onClose, onDone }) {
  const schema = session.bodyOf(action.call);
  const [typed, setTyped] = useState(action.fill?.(row) ?? {});
  const [text, setText] = useState(() => action.draft && (drafts.get(action.draft.name) ?? JSON.stringify(action.draft.make(), null, 2)));
  const [fault, setFault] = useState(null);
  const [answer, setAnswer] = useState(null);
  const [busy, setBusy] = useState(false);
  // One key for one thing done: a second press after no answer is the same command.
  const key = useRef(newKey());

  const body = () => {
    if (action.draft) {
      const definition = JSON.parse(text);
      return action.draft.wrap?.(definition) ?? definition;
    }
    return schema ? valuesOf(schema.properties, typed) : undefined;
  };
  const write = (written) => {
    drafts.set(action.draft.name, written);
    setText(written);
  };
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    try {
      const answered = await session.run(action.call, ids, { body: body(), key: action.call.startsWith('POST') ? key.current : undefined });
      onDone();
      if (action.show && answered) {
        setAnswer(answered);
      } else {
        onClose();
      }
    } catch (refused) {
      // What was refused did not bind the key; what has no answer keeps it.
      if (refused instanceof ProblemError && refused.problem.status < 500) {
        key.current = newKey();
      }
      setFault(refused);
    } finally {
      setBusy(false);
    }
  };
  const title = t(`a_${action.name}`);
  const minor = Number(typed.amount);
  if (answer) {
    return html`<${Dialog} title=${title} onClose=${onClose}><div class="form" data-answer=${action.name}><h2>${title}</h2>
      <p role="status">${t(`done_${action.show}`)}</p><${Thing} thing=${answer} />
      <button type="button" class="main-button" onClick=${onClose}>${t('close')}</button></div><//>`;
  }
  return html`<${Dialog} title=${title} onClose=${onClose}><form class="form" onSubmit=${submit} data-action=${action.name}>
    <h2>${title}</h2>
    ${ids.length > 0 && html`<p class="id">${ids.join(' · ')}</p>`}
    ${action.danger && html`<p class="warning">${t('danger')}</p>`}
    ${action.draft
      ? html`<div class="field"><label for="definition">${t('definition')}</label>
          <textarea id="definition" rows="16" spellcheck="false" value=${text} onInput=${(event) => write(event.target.value)}></textarea></div>`
      : schema && html`<${Fields} schemas=${schema.properties} required=${schema.required} typed=${typed} onType=${setTyped} />`}
    ${typed.amount && typed.asset && Number.isSafeInteger(minor) && html`<p class="soft" aria-live="polite">${money(minor, typed.asset)}</p>`}
    ${fault && html`<${Refusal} fault=${fault} />`}
    <div class="buttons"><button type="button" class="quiet-button" onClick=${onClose}>${t('cancel')}</button>
      <button type="submit" class="main-button" disabled=${busy}>${busy ? t('working') : title}</button></div>
  </form><//>`;
}

/**
 * A button for each action whose call there is.
 * @param {{actions: object[], session: object, ids: (action: object) => string[], row?: object, onDone: () => void}} props
 */
export function Actions({ actions, session, ids, row, onDone }) {
  const [asking, setAsking] = useState(null);
  const possible = actions.filter((each) => session.has(each.call) && (!row || !each.when || each.when(row)));
  return html`${possible.map((action) => html`<button key=${action.name} type="button" class="quiet-button" data-do=${action.name}
      onClick=${() => setAsking(action)}>${t(`a_${action.name}`)}</button>`)}
    ${asking && html`<${Ask} action=${asking} session=${session} ids=${ids(asking)} row=${row} onClose=${() => setAsking(null)} onDone=${onDone} />`}`;
}
