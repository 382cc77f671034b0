/** The guide's search box: shows the sections that contain all words, of the index that the build wrote. Nothing leaves the browser. */
const MOST = 20;
/** Characters of a section's text around the first word. */
const BEFORE = 40;
const AFTER = 100;

const box = document.querySelector('[role=search]');
const query = box.querySelector('input');
const status = box.querySelector('[role=status]');
const list = box.querySelector('ol');
let index = null;

/** Loaded at the first need; a failed load is tried again. */
function sections() {
  index ??= fetch('search.json')
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(answer.statusText))))
    .catch((failure) => {
      index = null;
      throw failure;
    });
  return index;
}

const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

/** The best sections first: all words in the heading, then in heading or text; each in the order of the guide. */
function matches(all, words) {
  const has = (text) => words.every((word) => text.toLowerCase().includes(word));
  const found = all.filter(({ page, heading, text }) => has(`${page} ${heading} ${text}`));
  return [...found.filter(({ heading }) => has(heading)), ...found.filter(({ heading }) => !has(heading))];
}

function excerpt(text, words) {
  const at = Math.max(0, text.toLowerCase().indexOf(words.find((word) => text.toLowerCase().includes(word)) ?? ''));
  const from = Math.max(0, at - BEFORE);
  return (from > 0 ? '…' : '') + text.slice(from, at + AFTER) + (text.length > at + AFTER ? '…' : '');
}

function item({ href, page, heading, text }, words) {
  const link = Object.assign(document.createElement('a'), { href, textContent: heading === page ? page : `${page}: ${heading}` });
  const line = document.createElement('li');
  line.append(link, document.createElement('br'), excerpt(text, words));
  return line;
}

async function show() {
  const words = wordsOf(query.value);
  let found = [];
  let failed = false;
  if (words.length > 0) {
    try {
      found = matches(await sections(), words);
    } catch {
      failed = true;
    }
  }
  if (words.join(' ') !== wordsOf(query.value).join(' ')) {
    return; // a later input shows its own
  }
  list.replaceChildren(...found.slice(0, MOST).map((section) => item(section, words)));
  if (words.length === 0) {
    status.textContent = '';
  } else if (failed) {
    status.textContent = 'The index cannot be loaded.';
  } else {
    status.textContent = found.length > MOST ? `${found.length} sections, the first ${MOST}:` : `${found.length} sections`;
  }
}

/** Arrows go through the links, and back to the input; Escape empties the search. */
function move(event) {
  const stops = [query, ...list.querySelectorAll('a')];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    stops[stops.indexOf(document.activeElement) + step]?.focus();
  } else if (event.key === 'Escape') {
    query.value = '';
    query.focus();
    show();
  }
}

query.addEventListener('input', show);
box.addEventListener('keydown', move);
list.addEventListener('click', ({ target }) => {
  if (target.closest('a')) {
    query.value = ''; // a link within this page leaves the box open otherwise
    setTimeout(show);
  }
});
box.hidden = false;
