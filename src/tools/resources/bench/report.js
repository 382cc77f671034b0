'use strict';
// Draws the report from the results that stand in the page: tables first, plots with uPlot.
(() => {
  const COLOURS = ['#c8321f', '#2b6cb0', '#2f8f4e', '#b7791f', '#805ad5', '#4a5568'];
  const results = JSON.parse(document.getElementById('results').textContent);
  const main = document.getElementById('report');

  const make = (parent, name, text, className) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    parent.append(element);
    return element;
  };

  const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
  const fine = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
  const number = value => typeof value !== 'number' ? '–' : Math.abs(value) < 100 ? fine.format(value) : whole.format(value);
  const percent = value => typeof value !== 'number' ? '–' : whole.format(value * 100) + ' %';

  const wanted = row => row.target !== undefined ? '≥ ' + row.target.toFixed(2)
    : row.atLeast !== undefined ? '≥ ' + number(row.atLeast) + ' ' + row.unit
    : row.atMost !== undefined ? '≤ ' + number(row.atMost) + ' ' + row.unit : '';

  const isAimed = row => [row.target, row.atLeast, row.atMost].some(bound => bound !== undefined);

  const verdict = row => {
    if (!isAimed(row)) return row.noisy ? ['noisy', 'unsure'] : ['', ''];
    const met = row.target !== undefined ? row.ratio >= row.target
      : row.median >= (row.atLeast ?? 0) && row.median <= (row.atMost ?? Infinity);
    if (row.noisy) return [(met ? 'met' : 'missed') + ', but noisy: no result', 'unsure'];
    return met ? ['met', 'good'] : ['missed', 'bad'];
  };

  const table = (parent, columns, rows) => {
    const box = make(make(parent, 'div', undefined, 'scroll'), 'table');
    const head = make(make(box, 'thead'), 'tr');
    columns.forEach(column => make(head, 'th', column));
    const body = make(box, 'tbody');
    for (const row of rows) {
      const line = make(body, 'tr');
      row.forEach((cell, i) => {
        const [text, className] = Array.isArray(cell) ? cell : [cell, ''];
        const td = make(line, 'td', text.trim(), className);
        if (i === 0 && text.startsWith('  ')) td.style.setProperty('--indent', '1.2rem');
      });
    }
  };

  const measurements = (parent, rows, of) => table(parent,
    [of, 'median', 'unit', 'spread', 'ratio', 'target', 'verdict'],
    rows.map(row => [row.name, number(row.median), row.unit, percent(row.spread),
      row.ratio === undefined ? '' : typeof row.ratio === 'number' ? row.ratio.toFixed(2) : '–', wanted(row), verdict(row)]));

  // 1 / (1 - percentile), as a percentile
  const asPercentile = value => {
    const shown = 100 - 100 / value;
    return shown === 0 ? '0' : Number(shown.toFixed(4)) + ' %';
  };
  const powersOnly = format => (plot, values) =>
    values.map(value => value !== null && Math.abs(Math.log10(value) % 1) < 1e-9 ? format(value) : '');

  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const plot = (parent, given) => {
    const lines = given.lines.filter(line => line.x.length > 1);
    if (lines.length === 0) return;
    const figure = make(parent, 'figure');
    make(figure, 'figcaption', given.title);
    const axis = (kind, label, side) => ({
      label,
      stroke: style('--ink'),
      grid: { stroke: style('--line'), width: 1 },
      ticks: { stroke: style('--line'), width: 1 },
      size: side === 'y' ? 70 : 45,
      values: kind === 'percentile' ? powersOnly(asPercentile)
        : kind === 'log' ? powersOnly(value => fine.format(value))
        : (plotted, values) => values.map(value => whole.format(value) === '0' && value !== 0 ? fine.format(value)
          : value % 1 === 0 ? whole.format(value) : fine.format(value)),
    });
    const scale = kind => kind === 'linear' ? { time: false, distr: 1 } : { time: false, distr: 3, log: 10 };
    const y = scale(given.yAxis);
    if (given.yAxis === 'linear') y.range = (plotted, min, max) => [Math.min(0, min), Math.max(1, max * 1.08)];
    const options = {
      width: Math.max(300, figure.clientWidth - 28),
      height: 280,
      padding: [8, 36, 0, 0],
      scales: { x: scale(given.xAxis), y },
      axes: [axis(given.xAxis, given.x, 'x'), axis(given.yAxis, given.y, 'y')],
      series: [{ label: given.x, value: (plotted, value) => value === null ? '–'
        : given.xAxis === 'percentile' ? asPercentile(value) : fine.format(value) }].concat(lines.map((line, i) => ({
        label: line.name,
        stroke: COLOURS[i % COLOURS.length],
        width: 2,
        spanGaps: true,
        points: { show: false },
        dash: line.name === 'can do' ? [6, 4] : undefined,
        value: (plotted, value) => value === null || value === undefined ? '–' : number(value),
      }))),
    };
    const drawn = new uPlot(options, uPlot.join(lines.map(line => [line.x, line.y])), figure);
    addEventListener('resize', () => drawn.setSize({ width: Math.max(300, figure.clientWidth - 28), height: 280 }));
  };

  const title = make(main, 'h1', undefined);
  make(title, 'span', '红包 ');
  title.append('Hongbao, measured');
  const machines = new Set(results.map(result => {
    const m = result.machine;
    return `${m.cores} cores, JDK ${m.jdk}, ${m.os}; ${m.servers || 'no servers'}`;
  }));
  machines.forEach(machine => make(main, 'p', machine));
  make(main, 'p', 'Load, server, Redis and Postgres share the cores; fsync and synchronous_commit are on. Medians of the '
    + 'rounds; spread is (highest − lowest) / median. A ratio is to the line that the target names, in the same run.');

  make(main, 'h2', 'Targets');
  const aimed = results.flatMap(result => result.measurements
    .filter(isAimed)
    .map(row => ({ ...row, name: result.bench + ': ' + row.name.trim() })));
  if (aimed.length > 0) measurements(main, aimed, 'what');
  for (const result of results) {
    result.faults.forEach(fault => make(main, 'p', 'FAULT ' + result.bench + ': ' + fault, 'fault'));
  }

  for (const result of results) {
    make(main, 'h2', 'bench ' + result.bench);
    make(main, 'p', `${result.machine.at}, load ${fine.format(result.machine.load)}`);
    measurements(main, result.measurements, 'what');
    for (const each of result.tables) {
      make(main, 'h3', each.title);
      table(main, each.columns, each.rows);
    }
    result.plots.forEach(each => plot(main, each));
  }
})();
