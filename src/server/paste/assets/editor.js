// The editor of the front page: files, size, keys, and creating without leaving the page.
// Everything here is an addition: without it the form is posted as any form.

const form = document.querySelector('[data-create-form]');
const text = form.elements.content;
const editor = form.querySelector('.editor');
const counter = form.querySelector('[data-counter]');
const maxBytes = Number(form.dataset.maxBytes);
const encoder = new TextEncoder();

// A text field knows line feeds only. A file with others is sent as it is, as long as nobody edits it.
let openedFile;

function content() {
  return openedFile !== undefined && text.value === openedFile.shown ? openedFile.original : text.value;
}

function say(message) {
  document.dispatchEvent(new CustomEvent('say', { detail: message }));
}

/* Size */

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

function formatSize(bytes) {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  return bytes < 1024 ** 2 ? `${number.format(bytes / 1024)} KiB` : `${number.format(bytes / 1024 ** 2)} MiB`;
}

function isTooLarge() {
  return encoder.encode(content()).length > maxBytes;
}

function showSize() {
  const bytes = encoder.encode(content()).length;
  const over = bytes > maxBytes;
  counter.classList.toggle('over', over);
  counter.textContent = over
    ? `${formatSize(bytes)}: ${number.format(bytes - maxBytes)} bytes too many`
    : `${formatSize(bytes)} of ${formatSize(maxBytes)}`;
}

let drawing = 0;
text.addEventListener('input', () => {
  cancelAnimationFrame(drawing);
  drawing = requestAnimationFrame(showSize);
});

/* Files */

const languageByName = new Map();
for (const option of form.elements.language.options) {
  for (const name of option.dataset.files.split(' ')) if (name) languageByName.set(name, option.value);
}

function guessLanguage(fileName) {
  const name = fileName.toLowerCase();
  const extension = name.includes('.') ? `*${name.slice(name.lastIndexOf('.'))}` : '';
  return languageByName.get(name) ?? languageByName.get(extension);
}

async function openFile(file) {
  if (file.size > maxBytes) {
    say(`${file.name} is ${formatSize(file.size)}: at most ${formatSize(maxBytes)} can be pasted.`);
    return;
  }
  let original;
  try {
    original = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
  } catch {
    say(`${file.name} is not text in UTF-8.`);
    return;
  }
  text.value = original;
  openedFile = { original, shown: text.value };
  if (form.elements.title.value === '') form.elements.title.value = [...file.name].slice(0, 100).join('');
  const language = guessLanguage(file.name);
  if (language) form.elements.language.value = language;
  showSize();
  text.focus();
  text.setSelectionRange(0, 0);
  say(`Opened ${file.name}`);
}

const fileInput = form.querySelector('[data-file-input]');
fileInput.addEventListener('change', () => {
  if (fileInput.files[0]) openFile(fileInput.files[0]);
  fileInput.value = '';
});

document.addEventListener('dragover', (event) => {
  if (!event.dataTransfer.types.includes('Files')) return;
  event.preventDefault();
  editor.classList.add('dropping');
});
document.addEventListener('dragleave', (event) => {
  if (!event.relatedTarget) editor.classList.remove('dropping');
});
document.addEventListener('drop', (event) => {
  editor.classList.remove('dropping');
  const file = event.dataTransfer.files[0];
  if (!file) return;
  event.preventDefault();
  openFile(file);
});

/* Keys */

const tabSwitch = form.querySelector('[data-tab-switch]');
let leaving = false;

try {
  tabSwitch.checked = localStorage.getItem('tab-indents') === 'yes';
} catch {
  // The choice is then asked for again on each page.
}
tabSwitch.addEventListener('change', () => {
  try {
    localStorage.setItem('tab-indents', tabSwitch.checked ? 'yes' : 'no');
  } catch {
    // As above.
  }
});

text.addEventListener('keydown', (event) => {
  const indents = tabSwitch.checked && !leaving;
  leaving = event.key === 'Escape';
  if (event.key !== 'Tab' || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey || !indents)
    return;
  event.preventDefault();
  // Not setRangeText: this way the insertion can be undone.
  if (!document.execCommand('insertText', false, '\t')) {
    text.setRangeText('\t', text.selectionStart, text.selectionEnd, 'end');
  }
});

form.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  form.requestSubmit();
});

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
if (isApple) form.querySelector('kbd').textContent = '⌘ ↵';

/* Creating */

function clearErrors() {
  form.querySelector('[data-form-error]').hidden = true;
  for (const message of form.querySelectorAll('[data-field-error]')) message.remove();
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid');
    field.removeAttribute('aria-describedby');
  }
}

function showErrors(message, details = {}) {
  const box = form.querySelector('[data-form-error]');
  const unplaced = [];
  let first;
  for (const [name, messages] of Object.entries(details)) {
    const field = form.elements.namedItem(name);
    if (!(field instanceof HTMLElement)) {
      unplaced.push(...messages);
      continue;
    }
    const id = `${name}-error`;
    const line = document.createElement('p');
    line.className = 'field-error';
    line.id = id;
    line.dataset.fieldError = '';
    line.textContent = messages.join(' ');
    (field.closest('.editor-head') ?? field.closest('.prefixed') ?? field.closest('.check') ?? field).after(
      line,
    );
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-describedby', id);
    first ??= field;
  }
  box.textContent = [message, ...unplaced].join(' ');
  box.hidden = false;
  (first ?? text).focus();
}

function requestBody() {
  const { title, language, expiresIn, password, customId, burnAfterRead } = form.elements;
  const body = {
    content: content(),
    language: language.value,
    expiresIn: expiresIn.value,
    burnAfterRead: burnAfterRead.checked,
  };
  for (const field of [title, password, customId]) if (field.value !== '') body[field.name] = field.value;
  return body;
}

async function explain(reply) {
  const { error, details } = await reply.json().catch(() => ({}));
  if (reply.status === 429) {
    const minutes = Math.ceil(Number(reply.headers.get('retry-after') ?? 60) / 60);
    showErrors(`Too many pastes from your address. Try again in ${minutes} min; your text stays here.`);
  } else if (reply.status === 409) {
    showErrors('The paste was not created.', { customId: [error ?? 'This address is taken.'] });
  } else if (reply.status === 413) {
    showErrors('The paste was not created.', { content: [error ?? 'The content is larger than 1 MiB.'] });
  } else {
    showErrors(error ?? `The paste was not created: the server answered ${reply.status}.`, details);
  }
}

function showCreated(created, title) {
  const template = document.querySelector('[data-created-template]');
  const panel = template.content.firstElementChild.cloneNode(true);
  const set = (name, property, value) => {
    for (const element of panel.querySelectorAll(`[data-field="${name}"]`)) element[property] = value;
  };
  const local = (address) => new URL(address).pathname;
  set('url', 'value', created.url);
  set('open', 'href', local(created.url));
  set('raw', 'href', local(created.rawUrl));
  set('token', 'value', created.deleteToken);
  set('delete', 'action', `/${created.pasteId}/delete`);
  set('expires', 'textContent', new Date(created.expiresAt).toLocaleString());
  panel.querySelector('[data-when="password"]').hidden = !created.hasPassword;
  panel.querySelector('[data-when="burn"]').hidden = !created.burnAfterRead;
  panel.querySelector('[data-field="open"]').hidden = created.burnAfterRead;
  panel.querySelector('[data-field="raw"]').hidden = created.burnAfterRead || created.hasPassword;
  // The page's own heading gives way to the panel's.
  document.querySelector('h1').remove();
  form.replaceWith(panel);
  document.body.classList.replace('fill', 'narrow');
  document.title = 'Paste created · Paste';
  panel.dispatchEvent(new CustomEvent('content-added', { bubbles: true }));
  document.dispatchEvent(new CustomEvent('paste-created', { detail: { ...created, title } }));
  window.scrollTo(0, 0);
  panel.querySelector('h1').focus();
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('.create');
  if (button.getAttribute('aria-busy') === 'true') return;
  clearErrors();
  if (isTooLarge()) {
    showErrors('The paste was not created.', { content: ['The content is larger than 1 MiB.'] });
    return;
  }
  button.setAttribute('aria-busy', 'true');
  try {
    const reply = await fetch('/api/pastes', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(requestBody()),
    });
    if (reply.status === 201) showCreated(await reply.json(), form.elements.title.value);
    else await explain(reply);
  } catch {
    showErrors('The server cannot be reached. Your text stays here; try again.');
  } finally {
    button.removeAttribute('aria-busy');
  }
});

showSize();
