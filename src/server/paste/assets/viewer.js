// The viewer: ranges of lines in the fragment (`#L3-L7`), wrapping, and saving a paste that is in this page only.

const article = document.querySelector('[data-paste]');
const content = document.getElementById('content');
const lineCount = Number(article.dataset.lines);
const isAnchored = content.classList.contains('anchored');
const linesForm = document.querySelector('[data-lines-form]');
const root = document.documentElement;
root.classList.add('scripted');

function say(text) {
  document.dispatchEvent(new CustomEvent('say', { detail: text }));
}

/* Ranges */

function parseRange(text) {
  const found = /^L?(\d{1,7})(?:-L?(\d{1,7}))?$/i.exec(text);
  if (!found) return undefined;
  const first = Number(found[1]);
  const second = Number(found[2] ?? first);
  const from = Math.min(first, second);
  return from < 1 || from > lineCount
    ? undefined
    : { from, to: Math.min(Math.max(first, second), lineCount) };
}

function fragmentOf({ from, to }) {
  return from === to ? `#L${from}` : `#L${from}-L${to}`;
}

let anchor; // Where a range that is extended with Shift starts.

function unmark() {
  for (const line of content.querySelectorAll('.line.marked')) line.classList.remove('marked');
}

/** The mark that the server drew for `?lines=`; one chosen here takes its place. */
function dissolveServerMark() {
  const mark = content.querySelector('mark.range');
  mark?.replaceWith(...mark.childNodes);
}

function mark({ from, to }) {
  unmark();
  for (let line = from; line <= to; line += 1) {
    document.getElementById(`L${line}`)?.parentElement.classList.add('marked');
  }
}

/** Brings an element into view, and leaves the page alone where it already is. */
function reveal(element) {
  const { top, bottom } = element.getBoundingClientRect();
  const toolbar = document.querySelector('.toolbar').getBoundingClientRect();
  if (top < Math.max(0, toolbar.bottom) || bottom > window.innerHeight)
    element.scrollIntoView({ block: 'center' });
}

function scrollToLine(line) {
  if (isAnchored) {
    const link = document.getElementById(`L${line}`);
    if (link) reveal(link);
    return;
  }
  // Without an element for the line its place is computed: all lines are of one height.
  const { top, height } = content.querySelector('code').getBoundingClientRect();
  window.scrollTo({ top: window.scrollY + top + (height / lineCount) * (line - 1) - window.innerHeight / 3 });
}

function follow() {
  const range = parseRange(location.hash.slice(1));
  if (!range) {
    unmark();
    return;
  }
  anchor = range.from;
  dissolveServerMark();
  mark(range);
  scrollToLine(range.from);
  if (linesForm) linesForm.elements.lines.value = fragmentOf(range).slice(1).replaceAll('L', '');
}

function choose(range) {
  dissolveServerMark();
  mark(range);
  // replaceState: choosing lines is not a journey, and the browser must not jump.
  history.replaceState(null, '', `${location.pathname}${fragmentOf(range)}`);
  if (linesForm) linesForm.elements.lines.value = fragmentOf(range).slice(1).replaceAll('L', '');
}

content.addEventListener('click', (event) => {
  const link = event.target.closest('.line > a');
  if (!link || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const line = Number(link.id.slice(1));
  if (event.shiftKey && anchor !== undefined) {
    choose({ from: Math.min(anchor, line), to: Math.max(anchor, line) });
    return;
  }
  anchor = line;
  choose({ from: line, to: line });
});

linesForm?.addEventListener('submit', (event) => {
  const range = parseRange(linesForm.elements.lines.value.trim());
  if (!range) {
    event.preventDefault();
    say(`Lines run from 1 to ${lineCount}.`);
    return;
  }
  // Lines without elements are marked by the server, where it still has the paste.
  if (!isAnchored && linesForm.dataset.inPlace === undefined) return;
  event.preventDefault();
  anchor = range.from;
  choose(range);
  scrollToLine(range.from);
});
if (linesForm) linesForm.hidden = false;

window.addEventListener('hashchange', follow);
const serverMark = content.querySelector('mark.range');
if (location.hash) follow();
else if (serverMark) reveal(serverMark);

/* Wrapping */

const wrapSwitch = document.querySelector('[data-wrap-switch]');
const showWrapping = () => wrapSwitch.setAttribute('aria-pressed', String(root.classList.contains('wrap')));
wrapSwitch.hidden = false;
showWrapping();
wrapSwitch.addEventListener('click', () => {
  const wraps = root.classList.toggle('wrap');
  showWrapping();
  try {
    localStorage.setItem('wrap', wraps ? 'yes' : 'no');
  } catch {
    // The choice then ends with the page.
  }
});

/* Saving what the server no longer has, or gives only for its password */

const downloadButton = document.querySelector('[data-download-content]');
if (downloadButton) {
  downloadButton.hidden = false;
  downloadButton.addEventListener('click', () => {
    const text = content.querySelector('code').textContent;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
    link.download = `${article.dataset.paste}.txt`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  });
}

for (const time of document.querySelectorAll('time')) {
  time.title = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'short' });
}
