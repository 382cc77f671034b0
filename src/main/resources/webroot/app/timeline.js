/**
 * The group's packets, oldest first, like a chat: stays at the newest unless the reader has scrolled up.
 * @module
 */
import { envelope, html, useEffect, useLayoutEffect, useRef, useState } from './ui.js';
import { PacketRow } from './packet.js';
import { t } from './texts.js';

/** How near to the end, in pixels, counts as reading the newest. */
const NEAR = 120;

/** @param {{packets: object[], me: string, onOpen: (packet: object, grab: boolean) => void}} props */
export function Timeline({ packets, me, onOpen }) {
  const ref = useRef(null);
  const reading = useRef(false);
  const [unseen, setUnseen] = useState(false);
  const newest = packets.at(-1)?.id;

  const toEnd = () => {
    const box = ref.current;
    box.scrollTop = box.scrollHeight;
    reading.current = false;
    setUnseen(false);
  };
  useLayoutEffect(() => {
    if (reading.current && packets.at(-1)?.sender !== me) {
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
        ${packets.length === 0 && html`<li class="quiet">${envelope}<b>${t('quiet')}</b><span>${t('quietHint')}</span></li>`}
        ${packets.map((packet) => html`<${PacketRow} key=${packet.id} packet=${packet} me=${me} onOpen=${onOpen} />`)}
      </ol>
    </div>
    ${unseen && html`<button type="button" class="to-end" onClick=${toEnd}>${t('newBelow')}</button>`}
  </div>`;
}
