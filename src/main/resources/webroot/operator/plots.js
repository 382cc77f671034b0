/**
 * The plots and the tiles above them.
 * @module
 */

const GRID = { stroke: 'rgba(255,230,200,.10)', width: 1 };
const AXIS = { stroke: '#b99f90', grid: GRID, ticks: GRID, font: '11px system-ui, sans-serif' };
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const HEIGHT = 170;

/** Each plot: its title, and its lines as number, label, colour; `sparse` when there is not a number each second. */
export const PLOTS = [
  { title: 'Claims a second', lines: [['claims', 'claims/s', '#f4cb6d']] },
  { title: 'Accepted → settled, ms', sparse: true, lines: [['p99', 'p99', '#ff7b62'], ['p50', 'p50', '#f4cb6d']] },
  { title: 'Journal: unsettled entries', lines: [['unsettled', 'entries', '#ff9d7d']] },
  { title: 'Connections', lines: [['connections', 'HTTP', '#8fb8ff'], ['sockets', 'sockets', '#7fe0b0']] },
  { title: 'Open packets', lines: [['open', 'packets', '#f29bc1']] },
];

/** Draws a plot into `parent`, before its last element. @returns a function that shows newer numbers */
export function plot({ title, lines, sparse = false }, parent) {
  const figure = document.createElement('figure');
  const caption = document.createElement('figcaption');
  caption.textContent = title;
  figure.append(caption);
  parent.lastElementChild.before(figure);
  const made = new globalThis.uPlot({
    width: figure.clientWidth - 24,
    height: HEIGHT,
    cursor: { points: { size: 7 } },
    axes: [{ ...AXIS, space: 80, values: (self, times) => times.map((time) => CLOCK.format(time * 1000)) }, { ...AXIS, size: 52 }],
    scales: { y: { range: (self, low, high) => [0, Math.max(1, (high ?? 0) * 1.15)] } },
    series: [{}, ...lines.map(([, label, stroke]) => ({ label, stroke, width: 2, fill: `${stroke}22`, spanGaps: false, points: { show: sparse, size: 4 } }))],
  }, [[], ...lines.map(() => [])], figure);
  new ResizeObserver(() => made.setSize({ width: figure.clientWidth - 24, height: HEIGHT })).observe(figure);
  return (numbers) => made.setData([numbers.series('at'), ...lines.map(([name]) => numbers.series(name))]);
}

/** A tile with one number. @returns a function that shows newer numbers */
export function tile(name, label, unit, parent) {
  const box = document.createElement('div');
  const value = document.createElement('b');
  const text = document.createElement('span');
  text.textContent = label;
  box.append(value, text);
  box.dataset.tile = name;
  parent.append(box);
  return (numbers) => {
    const last = numbers.last(name);
    value.textContent = last === null ? '–' : (last >= 10 ? Math.round(last) : last).toLocaleString('en') + unit;
  };
}
