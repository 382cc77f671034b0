/**
 * What this server counts, and how it is: asked once a second, without a token.
 * @module
 */
import { ask, call } from '../app/api.js';
import { html, useEffect, useLayoutEffect, useRef, useState } from '../app/ui.js';
import { label, locale, t } from './texts.js';
import { Table, Thing, Value } from './values.js';

/** The place of each number in a sample. */
const NAMES = ['at', 'claimsASecond', 'p50', 'p99', 'unsettled', 'connections', 'sockets', 'openPackets'];
/** The lines of each plot, and their colours; `sparse` when there is not a number each second. */
const PLOTS = [
  { lines: { claimsASecond: '--gold-text' } },
  { lines: { p99: '--red-text', p50: '--gold-text' }, sparse: true },
  { lines: { unsettled: '--red-text' } },
  { lines: { connections: '--gold-text', sockets: '--good' } },
  { lines: { openPackets: '--red-text' } },
];
/** Checks of /health/ready with texts of their own; any other is of an event loop. */
const CHECKS = ['staying', 'postgres', 'redis', 'shards'];
const HEIGHT = 170;
const KEPT = 600;
const KEPT_EVENTS = 100;
const ASK_MILLIS = 1000;
const HEALTH_EVERY = 5;
const MIB = 1024 * 1024;

/** A colour of the page, which changes with light and dark. */
function ink(name, alpha = '') {
  return () => getComputedStyle(document.documentElement).getPropertyValue(name).trim() + alpha;
}

function series(samples, name) {
  return samples.map((sample) => sample[NAMES.indexOf(name)]);
}

/** The checks that are not well, with their `since`. Not ready is an answer too, of status 503. */
async function health() {
  const { checks, since } = await call('GET', '/health/ready').catch((refused) => refused.problem ?? Promise.reject(refused));
  return checks.filter(({ status }) => status !== 'UP').map((check) => ({ ...check, since: since[check.name] }));
}

/** Version, servers and Redis' memory, as /metrics has them. */
async function about() {
  const scrape = await (await ask('/metrics')).text();
  const of = (name) => {
    const values = [...scrape.matchAll(new RegExp(`^${name}(?:\\{[^\\n]*\\})? (\\S+)$`, 'gm'))].map(([, value]) => Number(value));
    return values.length === 0 ? null : values.reduce((all, each) => all + each);
  };
  const mib = (name) => of(name) && Math.round(of(name) / MIB);
  return {
    version: /^hongbao_build_info\{[^\n]*version="([^"]*)"/m.exec(scrape)?.[1],
    servers: of('hongbao_server_members'),
    redisMemory: mib('hongbao_redis_memory_used_bytes'),
    redisLimit: mib('hongbao_redis_memory_limit_bytes') || null,
  };
}

function Plot({ lines, sparse = false, samples }) {
  const box = useRef(null);
  const plot = useRef(null);
  const names = Object.keys(lines);
  useLayoutEffect(() => {
    const size = () => ({ width: box.current.clientWidth, height: HEIGHT });
    const axis = { stroke: ink('--soft'), grid: { stroke: ink('--line'), width: 1 }, ticks: { stroke: ink('--line'), width: 1 }, font: '11px system-ui, sans-serif' };
    plot.current = new globalThis.uPlot({
      ...size(),
      cursor: { points: { size: 7 } },
      axes: [{ ...axis, space: 80, values: (self, times) => times.map((time) => new Date(time * 1000).toLocaleTimeString(locale())) }, { ...axis, size: 52 }],
      scales: { y: { range: (self, low, high) => [0, Math.max(1, (high ?? 0) * 1.15)] } },
      series: [
        { label: label('at'), value: (self, time) => (time ? new Date(time * 1000).toLocaleTimeString(locale()) : '–') },
        ...names.map((name) => ({ label: label(name), stroke: ink(lines[name]), width: 2, fill: ink(lines[name], '22'), points: { show: sparse, size: 4 } })),
      ],
    }, [[], ...names.map(() => [])], box.current);
    const resized = new ResizeObserver(() => plot.current.setSize(size()));
    resized.observe(box.current);
    return () => {
      resized.disconnect();
      plot.current.destroy();
    };
  }, []);
  useEffect(() => plot.current.setData([series(samples, 'at').map((millis) => millis / 1000), ...names.map((name) => series(samples, name))]), [samples]);
  const title = names.map(label).join(' · ');
  return html`<section class="panel plot" aria-label=${title}><h2>${title}</h2><div ref=${box}></div></section>`;
}

function Down({ name, reason, since }) {
  const check = CHECKS.includes(name) ? name : 'loop';
  return html`<div class="alert" role="alert" data-check=${name}><b>${t(`c_${check}`)}</b> · ${label('since')} <${Value} field="since" row=${{ since }} />
    ${reason && html`<p>${reason}</p>`}<p>${t(`todo_${check}`)}</p></div>`;
}

/** Asks what is newer while it is shown, and says so when nobody answers. */
export function Overview() {
  const [{ samples, events, down, facts, gone }, setSeen] = useState({ samples: [], events: [] });
  useEffect(() => {
    let timer;
    let seen = { samples: [], events: [] };
    let asked = 0;
    let current = true;
    const show = (news) => {
      seen = { ...seen, ...news };
      if (current) {
        setSeen(seen);
      }
    };
    const look = async () => {
      try {
        const newer = await call('GET', `/recent.json?after=${seen.samples.at(-1)?.[0] ?? 0}`);
        show({ samples: [...seen.samples, ...newer.samples].slice(-KEPT), events: [...newer.events.reverse(), ...seen.events].slice(0, KEPT_EVENTS) });
        if (asked++ % HEALTH_EVERY === 0) {
          show({ down: await health(), facts: await about(), gone: false });
        }
      } catch {
        asked = 0;
        show({ gone: true });
      }
      timer = current && setTimeout(look, ASK_MILLIS);
    };
    look();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, []);
  const state = gone ? 'gone' : !down ? 'unknown' : down.length === 0 ? 'up' : 'down';
  const last = Object.fromEntries(NAMES.slice(1).map((name) => [name, series(samples, name).findLast((value) => value !== null) ?? null]));
  const rows = events.map(({ at, kind, count }) => ({ at: new Date(at).toISOString(), kind, times: count }));
  return html`<section class="panel" data-panel="now" aria-label=${t('p_now')}>
      <header><h2>${t('p_now')}</h2><p class="health" role="status" data-health=${state}>${t(`health_${state}`, down?.map(({ name }) => name).join(', '))}</p></header>
      ${!gone && down?.map((check) => html`<${Down} key=${check.name} ...${check} />`)}
      <div class="now"><${Thing} thing=${last} /></div>
      ${facts && html`<${Thing} thing=${facts} />`}
      <p class="soft small"><a href="metrics">/metrics</a> · <a href="health/ready">/health/ready</a></p></section>
    <div class="plots" key=${locale()}>${PLOTS.map((each, place) => html`<${Plot} key=${place} ...${each} samples=${samples} />`)}
      <section class="panel events" data-panel="events" aria-label=${t('p_events')}><header><h2>${t('p_events')}</h2></header>
        ${rows.length === 0 ? html`<p class="soft">${t('nothing')}</p>` : html`<${Table} caption=${t('p_events')} rows=${rows} columns=${['at', 'kind', 'times']} />`}</section></div>`;
}
