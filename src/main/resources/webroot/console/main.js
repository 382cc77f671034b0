/**
 * The console: its overview is for everybody who reaches it; a service token opens the other views, for this tab alone.
 * @module
 */
import { ProblemError } from '../app/api.js';
import { recallSession, rememberSession } from '../app/prefs.js';
import { html, render, useEffect, useRef, useState } from '../app/ui.js';
import { Refusal } from './actions.js';
import { Session } from './calls.js';
import { arrive, depart, isBack, provider } from './oidc.js';
import { isThere, Panel } from './panels.js';
import { label, locale, switchLanguage, t } from './texts.js';
import { learnAssets, place } from './values.js';
import { VIEWS } from './views.js';

function App() {
  const [session, setSession] = useState(null);
  const [fault, setFault] = useState(null);
  const [issuer, setIssuer] = useState(null);
  const [, redraw] = useState(0);
  const language = () => {
    switchLanguage();
    redraw((n) => n + 1);
  };
  const leave = (why) => {
    rememberSession(null);
    setSession(null);
    setFault(why);
  };
  const enter = async (tried) => {
    setFault(null);
    try {
      const entered = await Session.enter(tried);
      entered.onEnd = (problem) => leave(new ProblemError(problem));
      rememberSession({ token: tried });
      if (entered.has('GET /v1/assets')) {
        learnAssets((await entered.run('GET /v1/assets', [], { query: { limit: '200' } })).items);
      }
      setSession(entered);
    } catch (refused) {
      leave(refused);
    }
  };
  const begin = async () => {
    try {
      const configured = await provider();
      setIssuer(configured);
      const token = configured && isBack() ? await arrive(configured) : recallSession()?.token;
      if (token) {
        await enter(token);
      }
    } catch (refused) {
      setFault(refused);
    }
  };
  useEffect(() => {
    begin();
  }, []);
  const signIn = { fault, issuer, onToken: enter, onProvider: () => depart(issuer).catch(setFault) };
  return html`<${Desk} session=${session} signIn=${signIn} onLeave=${() => leave(null)} onLanguage=${language} />`;
}

function SignIn({ fault, issuer, onToken, onProvider }) {
  const [typed, setTyped] = useState('');
  const [malformed, setMalformed] = useState(false);
  const submit = (event) => {
    event.preventDefault();
    const token = typed.trim();
    const isOne = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
    setMalformed(!isOne);
    if (isOne) {
      onToken(token);
    }
  };
  const isUser = fault instanceof ProblemError && fault.problem.status === 403;
  return html`<div class="sign-in">
    ${issuer && html`<button type="button" class="main-button" data-do="provider" onClick=${onProvider}>${t('enterBy', new URL(issuer.issuer).host)}</button>`}
    <form onSubmit=${submit} class="panel form">
      <div class="field"><label for="token">${t('token')}</label>
        <input id="token" type="password" autocomplete="off" spellcheck="false" required aria-describedby="token-hint" value=${typed} onInput=${(event) => setTyped(event.target.value)} /></div>
      <p id="token-hint" class="soft small">${t('tokenHint')}</p>
      <p class="soft small"><code>hongbao token --user backend --role service --ttl 1h</code></p>
      ${malformed && html`<p class="alert" role="alert">${t('noToken')}</p>`}
      ${!malformed && isUser && html`<p class="alert" role="alert">${t('userToken')}</p>`}
      ${!malformed && fault && !isUser && html`<${Refusal} fault=${fault} />`}
      <button type="submit" class="main-button">${t('enter')}</button>
    </form></div>`;
}

/** The view that the address names, and the thing in it. */
function here() {
  const [, view, id] = location.hash.split('/');
  try {
    return { view, id: id && decodeURIComponent(id) };
  } catch {
    return { view };
  }
}

function Desk({ session, signIn, onLeave, onLanguage }) {
  const [at, setAt] = useState(here);
  const [version, setVersion] = useState(0);
  const title = useRef(null);
  useEffect(() => {
    const moved = () => {
      setAt(here());
      title.current?.focus();
    };
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  const views = VIEWS.filter((view) => !session || [...view.index, ...(view.one ?? [])].some((panel) => isThere(panel, session)));
  const view = views.find((each) => each.name === at.view) ?? views[0];
  const isOne = at.id !== undefined && view.one;
  const ids = isOne ? [at.id] : [];
  const panels = (isOne ? view.one : view.index).filter((panel) => isThere(panel, session));
  const asks = !session && (signIn.fault || panels.length === 0);
  const until = session && new Date(session.expiresAt).toLocaleTimeString(locale(), { hour: '2-digit', minute: '2-digit' });
  return html`<div class="desk">
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); title.current.focus(); }}>${t('skip')}</a>
    <header class="bar"><p class="brand"><img src="icon.svg" alt="" width="28" height="28" /><b>${t('heading')}</b></p>
      ${session && html`<p class="who"><b data-user=${session.user}>${session.user}</b><span class="soft">${t('until', until)}</span></p>`}
      <button type="button" class="language" lang=${locale() === 'zh-CN' ? 'en' : 'zh-CN'} aria-label=${t('otherLanguageLabel')} onClick=${onLanguage}>${t('otherLanguage')}</button>
      ${session && html`<button type="button" class="quiet-button" data-do="leave" onClick=${onLeave}>${t('leave')}</button>`}
      ${!session && !asks && html`<a class="quiet-button" data-do="enter" href=${place(views[1].name)}>${t('enter')}</a>`}</header>
    <nav aria-label=${t('views')}><ul>${views.map((each) => html`<li key=${each.name}><a href=${place(each.name)} data-view=${each.name}
      aria-current=${each === view ? 'page' : undefined}>${t(`v_${each.name}`)}</a></li>`)}</ul></nav>
    <main id="main"><h1 tabindex="-1" ref=${title}>${t(`v_${view.name}`)}${isOne && html` <span class="id">${at.id}</span>`}</h1>
      ${asks && html`<${SignIn} ...${signIn} />`}
      ${session && view.find && html`<${Find} key=${view.name} view=${view} />`}
      ${panels.map((panel) => html`<${Panel} key=${`${view.name}/${ids}/${panel.name}`} panel=${panel} session=${session} ids=${ids}
        version=${version} onChange=${() => setVersion((n) => n + 1)} />`)}
    </main></div>`;
}

function Find({ view }) {
  const [id, setId] = useState('');
  const submit = (event) => {
    event.preventDefault();
    location.hash = place(view.name, id.trim());
  };
  return html`<form class="find" role="search" onSubmit=${submit}><label for="find">${t('find', label(view.find))}</label>
    <input id="find" required autocomplete="off" spellcheck="false" maxlength="128" value=${id} onInput=${(event) => setId(event.target.value)} />
    <button type="submit" class="main-button">${t('open')}</button></form>`;
}

const root = document.getElementById('app');
root.replaceChildren();
render(html`<${App} />`, root);
