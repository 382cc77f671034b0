/**
 * The page: the gate for a visitor, the group for a member.
 * @module
 */
import { html, purse, render, useEffect, useRef, useState, wheel } from './ui.js';
import { Account } from './account.js';
import { Compose } from './compose.js';
import { Face, nameOf } from './faces.js';
import { Gate } from './gate.js';
import { History } from './history.js';
import { LanguageButton } from './language.js';
import { Opening } from './opening.js';
import { RainBar, RainStage } from './rain.js';
import { Timeline, winText } from './timeline.js';
import { giverOf, greetingOf } from './packet.js';
import { money, signOf } from './format.js';
import { recallSession, rememberSession } from './prefs.js';
import { Room } from './room.js';
import { t } from './texts.js';
import { Wheel } from './wheel.js';

function App() {
  const [room, setRoom] = useState(() => {
    const session = recallSession();
    return session ? new Room(session) : null;
  });
  const [, setDrawn] = useState(0);
  const redraw = () => setDrawn((n) => n + 1);

  const enter = (session) => {
    rememberSession(session);
    setRoom(new Room(session));
  };
  const leave = () => {
    room.close();
    rememberSession(null);
    setRoom(null);
  };
  return room
    ? html`<${Group} room=${room} onLeave=${leave} onLanguage=${redraw} />`
    : html`<${Gate} onEnter=${enter} onLanguage=${redraw} />`;
}

function Group({ room, onLeave, onLanguage }) {
  const [, setDrawn] = useState(0);
  const [opened, setOpened] = useState(null);
  const [panel, setPanel] = useState('');
  const [sky, setSky] = useState(''); // the rain that is shown, above everything else
  const [said, setSaid] = useState('');
  useEffect(() => room.listen((event) => {
    const packet = event?.type === 'packet.sent' && event.data.packet;
    if (packet && giverOf(packet) !== room.me) {
      setSaid(t('newPacket', nameOf(giverOf(packet)), greetingOf(packet), packet.count));
    }
    if (event?.type === 'draw.won' && event.data.wins.every((win) => win.user !== room.me)) {
      setSaid(winText(event.data));
    }
    if (event?.type === 'rain.announced') {
      setSaid(t('rainAnnounced', event.data.name));
    }
    setDrawn((n) => n + 1);
  }), [room]);

  const heading = useRef(null);
  // The way in is gone with what had the focus.
  useEffect(() => {
    if (document.activeElement === document.body) {
      heading.current.focus();
    }
  }, [room]);

  const open = (packet, grab) => setOpened({ id: packet.id, grab });
  const packet = opened && room.find(opened.id);
  return html`<div class="room">
    <${Members} room=${room} onLeave=${onLeave} />
    <div class="chat">
      <${TopBar} room=${room} heading=${heading} onWallet=${() => setPanel('wallet')} onLeave=${onLeave} onLanguage=${onLanguage} />
      <main class="chat-main"><${Timeline} packets=${room.packets} wins=${room.wins} rains=${room.rains} me=${room.me} known=${room.known} onOpen=${open} /></main>
      ${room.rains.filter((rain) => rain.endedAt === null).map((rain) => html`<${RainBar} key=${rain.id} rain=${rain} busy=${panel === 'compose' || sky !== ''}
        onOpen=${() => setSky(rain.id)} />`)}
      <footer class="composer"><button type="button" class="send" onClick=${() => setPanel('compose')}>
        <span class="send-coin" aria-hidden="true">${signOf()}</span>${t('sendButton')}</button>
        ${room.hasWheel && html`<button type="button" class="to-wheel" onClick=${() => setPanel('wheel')}>${wheel}${t('wheelButton')}</button>`}</footer>
    </div>
    <aside class="side-account" aria-label=${t('wallet')}><${Account} room=${room} onHistory=${() => setPanel('history')} /></aside>
    <p class="unseen" aria-live="polite" role="status">${said}</p>
    ${packet && html`<${Opening} key=${packet.id} packet=${packet} grab=${opened.grab} room=${room} onClose=${() => setOpened(null)} />`}
    ${panel === 'compose' && html`<${Compose} room=${room} onClose=${() => setPanel('')} />`}
    ${panel === 'wheel' && html`<${Wheel} room=${room} onClose=${() => setPanel('')} />`}
    ${panel === 'history' && html`<${History} room=${room} onClose=${() => setPanel('')} />`}
    ${panel === 'wallet' && html`<${Account} room=${room} dialog onHistory=${() => setPanel('history')} onClose=${() => setPanel('')} />`}
    ${room.rains.filter(({ id }) => id === sky).map((rain) => html`<${RainStage} key=${rain.id} rain=${rain} room=${room} onClose=${() => setSky('')} />`)}
  </div>`;
}

function TopBar({ room, heading, onWallet, onLeave, onLanguage }) {
  const balance = room.balance === null ? `${signOf()} …` : money(room.balance);
  return html`<header class="top-bar">
    <div class="top-title"><h1 ref=${heading} tabindex="-1">${t('groupName')}</h1><${Line} room=${room} /></div>
    <${LanguageButton} onLanguage=${onLanguage} />
    <button type="button" class="wallet-chip" aria-label=${t('openWallet', balance)} onClick=${onWallet}>${purse}<span>${balance}</span></button>
    <button type="button" class="me-chip" aria-label=${`${nameOf(room.me)}: ${t('leave')}`} title=${t('leave')} onClick=${onLeave}>
      <${Face} user=${room.me} /></button>
  </header>`;
}

function Line({ room }) {
  const again = room.known ? 'statusOffline' : 'statusConnecting';
  const text = { open: 'statusLive', connecting: again, waiting: 'statusOffline', closed: 'statusEnded' }[room.line];
  const detail = room.line === 'open' ? `${t('memberCount', room.members.length)} · ${t(text)}` : t(text);
  return html`<p class="line ${room.line}" role="status" data-line=${room.line}><i aria-hidden="true"></i>${detail}</p>`;
}

function Members({ room, onLeave }) {
  return html`<nav class="members" aria-label=${t('members')}>
    <p class="brand"><img src="icon.svg" alt="" width="32" height="32" /><b>${t('brand')}</b></p>
    <h2>${t('members')}</h2>
    <ul>${room.members.map((member) => html`<li key=${member} class=${member === room.me ? 'own' : ''}>
      <${Face} user=${member} size="small" /><span>${nameOf(member)}</span>${member === room.me && html`<em>${t('you')}</em>`}</li>`)}</ul>
    <button type="button" class="quiet-button" onClick=${onLeave}>${t('leave')}</button>
    <p class="nav-links"><a href="docs">${t('api')}</a><a href="asyncapi.yaml">${t('socket')}</a><a href="hongbao-client.js">${t('clientSource')}</a></p>
  </nav>`;
}

const root = document.getElementById('app');
root.replaceChildren();
render(html`<${App} />`, root);
