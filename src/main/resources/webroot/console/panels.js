/**
 * The parts of a view: a list that is read page by page, one thing, a run of the checks. Each asks one call.
 * @module
 */
import { html, useEffect, useState } from '../app/ui.js';
import { Actions, Refusal } from './actions.js';
import { Fields, valuesOf } from './fields.js';
import { Overview } from './overview.js';
import { t } from './texts.js';
import { Badge, learnAssets, Table, Thing } from './values.js';

const LOOK_MILLIS = 500;
const PAGE = '50';

function Filters({ schemas, required, onFilter }) {
  const [typed, setTyped] = useState({});
  const [fault, setFault] = useState(null);
  const submit = (event) => {
    event.preventDefault();
    setFault(null);
    try {
      onFilter(valuesOf(schemas, typed));
    } catch (wrong) {
      setFault(wrong);
    }
  };
  return html`<form class="filters" onSubmit=${submit}>
    <${Fields} schemas=${schemas} required=${required} typed=${typed} onType=${setTyped} />
    <button type="submit" class="quiet-button">${t('filter')}</button>${fault && html`<${Refusal} fault=${fault} />`}</form>`;
}

function Downloads({ panel, session, ids, filters }) {
  const [fault, setFault] = useState(null);
  const save = async ({ call, format, type }) => {
    setFault(null);
    try {
      const query = format ? { ...filters, format } : filters;
      const url = URL.createObjectURL(await session.download(call, ids, { query, type }));
      const link = Object.assign(document.createElement('a'), { href: url, download: `${[panel.name, ...ids].join('-')}.${format ?? 'csv'}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    } catch (refused) {
      setFault(refused);
    }
  };
  return html`${panel.files?.filter((each) => session.has(each.call)).map((each) => html`<button key=${each.call + each.format} type="button" class="quiet-button"
      data-file=${each.format ?? 'csv'} onClick=${() => save(each)}>${t('download', (each.format ?? 'csv').toUpperCase())}</button>`)}
    ${fault && html`<${Refusal} fault=${fault} />`}`;
}

function Listed({ panel, session, ids, rows, onDone }) {
  if (rows.length === 0) {
    return html`<p class="soft">${t('nothing')}</p>`;
  }
  const possible = panel.rows?.some((each) => session.has(each.call));
  const actions = possible && ((row) => html`<${Actions} actions=${panel.rows} session=${session} row=${row}
    ids=${(action) => action.ids?.(row, ids) ?? [row.id]} onDone=${onDone} />`);
  return html`<${Table} caption=${t(`p_${panel.name}`)} rows=${rows} columns=${panel.columns} open=${panel.open} actions=${actions} />`;
}

/** Asks a call, and shows a list, or one thing. */
function Asked({ panel, session, ids, version, onChange }) {
  const filtered = session.filtersOf(panel.call);
  const [filters, setFilters] = useState(panel.ask ? null : {});
  const [answer, setAnswer] = useState(null);
  const [fault, setFault] = useState(null);
  const [asked, setAsked] = useState(0);
  /** Of a call that answers no page: all its lines. */
  const lines = async (query) => {
    const text = await (await session.download(panel.call, ids, { query: { ...query, format: 'jsonl' }, type: 'application/jsonl' })).text();
    return { items: text.split('\n').filter(Boolean).map((line) => JSON.parse(line)) };
  };
  useEffect(() => {
    let current = true;
    if (filters === null) {
      return undefined;
    }
    const paged = session.pagedBy(panel.call) ? { limit: PAGE } : {};
    const read = panel.lines ? lines : (query) => session.run(panel.call, ids, { query });
    read({ ...filters, ...paged }).then((got) => {
      if (current) {
        if (panel.call === 'GET /v1/assets') {
          learnAssets(got.items);
        }
        setAnswer(got);
        setFault(null);
      }
    }, (refused) => current && setFault(refused));
    return () => {
      current = false;
    };
  }, [asked, filters, version]);
  const more = async () => {
    try {
      const next = await session.run(panel.call, ids, { query: { ...filters, limit: PAGE, [session.pagedBy(panel.call)]: answer.next } });
      setAnswer((known) => (known === answer ? { ...next, items: [...answer.items, ...next.items] } : known));
    } catch (refused) {
      setFault(refused);
    }
  };
  const again = () => setAsked((n) => n + 1);
  const title = t(`p_${panel.name}`);
  return html`<section class="panel" data-panel=${panel.name} aria-label=${title}>
    <header><h2>${title}</h2><div class="buttons">
      <${Actions} actions=${panel.actions ?? []} session=${session} ids=${(action) => action.ids?.(answer, ids) ?? ids} row=${panel.list ? undefined : answer ?? {}} onDone=${onChange} />
      ${filters && html`<${Downloads} panel=${panel} session=${session} ids=${ids} filters=${filters} />
      <button type="button" class="quiet-button" onClick=${again} aria-label=${t('againOf', title)}>${t('again')}</button>`}</div></header>
    ${Object.keys(filtered).length > 0 && html`<${Filters} schemas=${filtered} required=${panel.needs} onFilter=${setFilters} />`}
    ${fault && html`<${Refusal} fault=${fault} />`}
    ${!fault && !answer && filters && html`<p class="soft" role="status">${t('loading')}</p>`}
    ${!fault && answer && (panel.list
      ? html`<${Listed} panel=${panel} session=${session} ids=${ids} rows=${answer.items} onDone=${onChange} />
          ${answer.next && session.pagedBy(panel.call) && html`<button type="button" class="quiet-button more" onClick=${more}>${t('more')}</button>`}`
      : html`<${Thing} thing=${answer} columns=${panel.columns} />`)}
  </section>`;
}

/** Only things to do. */
function Doing({ panel, session, ids, onChange }) {
  const title = t(`p_${panel.name}`);
  return html`<section class="panel" data-panel=${panel.name} aria-label=${title}><header><h2>${title}</h2><div class="buttons">
    <${Actions} actions=${panel.actions} session=${session} ids=${() => ids} onDone=${onChange} /></div></header></section>`;
}

/** The checks of the books, in the background of the server: how far they are, and what they found. */
function Checks({ panel, session, version, onChange }) {
  const [run, setRun] = useState(null);
  const [fault, setFault] = useState(null);
  useEffect(() => {
    let timer;
    let current = true;
    const look = () => session.run(panel.call, []).then((got) => {
      if (current) {
        setRun(got);
        setFault(null);
        timer = got.startedAt && !got.endedAt ? setTimeout(look, LOOK_MILLIS) : undefined;
      }
    }, (refused) => current && setFault(refused));
    look();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [version]);
  const underWay = run?.startedAt && !run.endedAt;
  const wrong = run?.findings.filter((each) => each.result !== 'ok').length;
  const said = () => {
    if (underWay) {
      return t('checksUnderWay', run.done, run.of);
    }
    if (run.failed) {
      return t('checksFailed');
    }
    return wrong === 0 ? t('checksClean', run.done) : t('checksWrong', wrong, run.done);
  };
  return html`<section class="panel" data-panel=${panel.name} aria-label=${t('p_checks')}>
    <header><h2>${t('p_checks')}</h2><div class="buttons"><${Actions} actions=${underWay ? [] : panel.actions} session=${session} ids=${() => []} onDone=${onChange} /></div></header>
    <p class="soft">${t('checksHint')}</p>
    ${fault && html`<${Refusal} fault=${fault} />`}
    ${run?.startedAt && html`<p role="status" data-checks=${underWay ? 'under-way' : 'ended'}>${said()}</p>
      <progress max=${run.of} value=${run.endedAt ? run.of : run.done} aria-label=${t('p_checks')}></progress>
      <ul class="findings">${[...run.findings].sort((a, b) => (a.result === 'ok') - (b.result === 'ok')).map((each) => html`<li key=${each.name}>
        <${Badge} word=${each.result} /> <b>${each.invariant}</b> ${each.name}
        ${each.lines.length > 0 && html`<details><summary>${t('cases', each.lines.length)}</summary><ul>${each.lines.map((line) => html`<li key=${line}>${line}</li>`)}</ul></details>`}</li>`)}</ul>`}
  </section>`;
}

const KINDS = { checks: Checks, doing: Doing, overview: Overview };

/** Whether the server has what a panel needs; without a session, whether it needs none. */
export function isThere(panel, session) {
  const calls = panel.call ? [panel.call] : panel.actions?.map((each) => each.call);
  return calls === undefined || calls.some((each) => session?.has(each));
}

/**
 * @param {{panel: object, session: object, ids: string[], version: number, onChange: () => void}} props `version` changes when something
 *   was done in the view, so that all its panels are asked again
 */
export function Panel(props) {
  return html`<${KINDS[props.panel.kind] ?? Asked} ...${props} />`;
}
