// Remembers in this browser which pastes it made, with their delete tokens, and lists them on the front page.
// Other scripts tell it by the events `paste-created` (detail: the paste) and `paste-gone` (detail: the id).

const KEY = 'pastes';
const KEPT = 50;

function readAll() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(found) ? found.filter(({ expiresAt }) => Date.parse(expiresAt) > Date.now()) : [];
  } catch {
    return [];
  }
}

function writeAll(pastes) {
  try {
    localStorage.setItem(KEY, JSON.stringify(pastes.slice(0, KEPT)));
  } catch {
    // Without storage there is no list; the token was still shown.
  }
}

function add({ pasteId, title, expiresAt, deleteToken, burnAfterRead }) {
  writeAll([
    { pasteId, title, expiresAt, deleteToken, burnAfterRead },
    ...readAll().filter((paste) => paste.pasteId !== pasteId),
  ]);
}

function remove(pasteId) {
  writeAll(readAll().filter((paste) => paste.pasteId !== pasteId));
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const units = [
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

function expiresIn(expiresAt) {
  const seconds = (Date.parse(expiresAt) - Date.now()) / 1000;
  const [unit, size] = units.find(([, unitSeconds]) => seconds >= unitSeconds) ?? ['minute', 60];
  return relative.format(Math.max(1, Math.round(seconds / size)), unit);
}

function say(text) {
  document.dispatchEvent(new CustomEvent('say', { detail: text }));
}

/** Deletes on the server; a paste that is no longer there is as good as deleted. */
async function deletePaste({ pasteId, deleteToken }) {
  const address = `/api/pastes/${encodeURIComponent(pasteId)}?token=${encodeURIComponent(deleteToken)}`;
  try {
    const reply = await fetch(address, { method: 'DELETE' });
    if (reply.status === 204 || reply.status === 404) {
      remove(pasteId);
      say('Deleted');
      return true;
    }
    say(`Not deleted: the server answered ${reply.status}.`);
  } catch {
    say('Not deleted: the server cannot be reached.');
  }
  return false;
}

function listItem(paste) {
  const item = document.createElement('li');
  const name = paste.title || paste.pasteId;
  const link = document.createElement('a');
  link.href = `/${paste.pasteId}`;
  link.textContent = name;
  const expiry = document.createElement('span');
  expiry.className = 'hint';
  expiry.textContent = `${paste.burnAfterRead ? 'burns · ' : ''}${expiresIn(paste.expiresAt)}`;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'danger quiet';
  // Two clicks, since nothing brings it back; looking away takes the first one back.
  const ask = (sure) => {
    button.textContent = sure ? 'Really delete' : 'Delete';
    button.setAttribute('aria-label', `${button.textContent} ${name}`);
    button.classList.toggle('quiet', !sure);
    button.dataset.sure = sure ? 'yes' : '';
  };
  ask(false);
  button.addEventListener('blur', () => ask(false));
  button.addEventListener('click', async () => {
    if (button.dataset.sure !== 'yes') {
      ask(true);
      return;
    }
    button.setAttribute('aria-busy', 'true');
    if (await deletePaste(paste)) show();
    else button.removeAttribute('aria-busy');
    document.getElementById('own-heading')?.focus();
  });
  item.append(link, expiry, button);
  return item;
}

function show() {
  const section = document.querySelector('[data-own-pastes]');
  if (!section) return;
  const pastes = readAll();
  section.hidden = pastes.length === 0;
  section.querySelector('ul').replaceChildren(...pastes.map(listItem));
}

// A page that was made by the server after a form without script.
const created = document.querySelector('[data-created][data-paste]:not([data-paste=""])');
if (created) {
  add({
    pasteId: created.dataset.paste,
    title: created.dataset.title,
    expiresAt: created.dataset.expires,
    deleteToken: document.getElementById('created-token').value,
    burnAfterRead: created.dataset.burn === 'true',
  });
}

const deleted = document.querySelector('[data-deleted]');
if (deleted) remove(deleted.dataset.deleted);

// Whoever made the paste in this browser need not look for its token.
const deleteForm = document.querySelector('[data-delete-paste]');
const known = deleteForm && readAll().find(({ pasteId }) => pasteId === deleteForm.dataset.deletePaste);
if (known && deleteForm.elements.token.value === '') deleteForm.elements.token.value = known.deleteToken;

document.addEventListener('paste-created', ({ detail }) => {
  add(detail);
  show();
});
document.addEventListener('paste-gone', ({ detail }) => {
  remove(detail);
  show();
});
window.addEventListener('storage', ({ key }) => {
  if (key === KEY) show();
});
show();
