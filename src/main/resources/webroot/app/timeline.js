/**
 * The group's packets, what was won at its wheel and what its rains gave, oldest first, like a chat: stays at the newest unless the reader has scrolled up.
 * @module
 */
import { envelope, html, useEffect, useLayoutEffect, useRef, useState, wheel } from './ui.js';
import { nameOf } from './faces.js';
import { PacketRow, giverOf } from './packet.js';
import { rainText } from './rain.js';
import { t } from './texts.js';
import { prizeNames } from './wheel-face.js';

/** The distance from the end, in pixels, within which the user reads the newest. */
const NEAR = 120;

/** Packets, wins and rains that are over in one row, oldest first. */
function merged(packets, wins, rains) {
  return [
    ...packets.map((packet) => ({ key: packet.id, at: Date.parse(packet.createdAt), packet })),
    ...wins.map((event) => ({ key: `win-${event.cursor}`, at: Date.parse(event.at), note: [wheel, winText(event.data)] })),
    ...rains.filter((rain) => rain.endedAt !== null)
      .map((rain) => ({ key: rain.id, at: Date.parse(rain.endedAt), note: [envelope, rainText(rain)] })),
  ].sort((a, b) => a.at - b.at);
}

/** The winners of an event with their prizes: one line, each person once. */
export function winText({ count, wins }) {
  const byUser = new Map();
  wins.forEach((win) => byUser.set(win.user, [...(byUser.get(win.user) ?? []), win]));
  const said = [...byUser].map(([user, prizes]) => t('noteWon', nameOf(user), prizeNames(prizes)));
  return said.join(t('listComma')) + (count > wins.length ? t('noteMore', count - wins.length) : '');
}

/** The sender of the last row's packet; undefined when the last row is none. */
function newestGiver(rows) {
  const packet = rows.at(-1)?.packet;
  return packet && giverOf(packet);
}

/** @param {{packets: object[], wins: object[], rains: object[], me: string, onOpen: (packet: object, grab: boolean) => void}} props */
export function Timeline({ packets, wins, rains, me, onOpen }) {
  const ref = useRef(null);
  const reading = useRef(false);
  const [unseen, setUnseen] = useState(false);
  const rows = merged(packets, wins, rains);
  const newest = rows.at(-1)?.key;

  const toEnd = () => {
    const box = ref.current;
    box.scrollTop = box.scrollHeight;
    reading.current = false;
    setUnseen(false);
  };
  useLayoutEffect(() => {
    if (reading.current && newestGiver(rows) !== me) {
      setUnseen(true);
    } else {
      toEnd();
    }
  }, [newest]);
  useEffect(() => {
    const watcher = new ResizeObserver(() => {
      if (!reading.current) {
        ref.current.scrollTop = ref.current.scrollHeight;
      }
    });
    watcher.observe(ref.current.firstElementChild);
    return () => watcher.disconnect();
  }, []);
  const scrolled = () => {
    const box = ref.current;
    reading.current = box.scrollHeight - box.scrollTop - box.clientHeight > NEAR;
    if (!reading.current) {
      setUnseen(false);
    }
  };

  return html`<div class="timeline-frame">
    <div class="timeline" ref=${ref} onScroll=${scrolled} tabindex="0" role="region" aria-label=${t('timeline')}>
      <ol class="rows">
        ${rows.length === 0 && html`<li class="quiet">${envelope}<b>${t('quiet')}</b><span>${t('quietHint')}</span></li>`}
        ${rows.map(({ key, packet, note }) => (packet
    ? html`<${PacketRow} key=${key} packet=${packet} me=${me} onOpen=${onOpen} />`
    : html`<li class="note win" key=${key}><span>${note}</span></li>`))}
      </ol>
    </div>
    ${unseen && html`<button type="button" class="to-end" onClick=${toEnd}>${t('newBelow')}</button>`}
  </div>`;
}
