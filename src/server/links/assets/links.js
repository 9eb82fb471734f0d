// Remembers in this browser which links it made, with their delete tokens, and lists them on the front page.

const KEY = 'links';
const KEPT = 50;

function readAll() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    const isLive = ({ expiresAt }) => !expiresAt || Date.parse(expiresAt) > Date.now();
    return Array.isArray(found) ? found.filter(isLive) : [];
  } catch {
    return [];
  }
}

function writeAll(links) {
  try {
    localStorage.setItem(KEY, JSON.stringify(links.slice(0, KEPT)));
  } catch {
    // Without storage there is no list; the token was still shown.
  }
}

function remove(shortCode) {
  writeAll(readAll().filter((link) => link.shortCode !== shortCode));
}

function say(text) {
  document.dispatchEvent(new CustomEvent('say', { detail: text }));
}

/** Deletes on the server; a link that is no longer there is as good as deleted. */
async function deleteLink({ shortCode, deleteToken }) {
  try {
    const reply = await fetch(`/api/links/${encodeURIComponent(shortCode)}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${deleteToken}` },
    });
    if (reply.ok || reply.status === 404) {
      remove(shortCode);
      say('Deleted');
      return true;
    }
    say(`Not deleted: the server answered ${reply.status}.`);
  } catch {
    say('Not deleted: the server cannot be reached.');
  }
  return false;
}

function linkTo(href, text) {
  const link = document.createElement('a');
  link.href = href;
  link.textContent = text;
  return link;
}

function listItem(entry) {
  const { shortCode, destination } = entry;
  const item = document.createElement('li');
  const leadsTo = document.createElement('span');
  leadsTo.className = 'hint';
  leadsTo.textContent = destination;
  leadsTo.title = destination;
  const statistics = linkTo(`/${shortCode}/stats`, 'Statistics');
  statistics.setAttribute('aria-label', `Statistics of ${shortCode}`);
  item.append(linkTo(`/${shortCode}+`, `/${shortCode}`), leadsTo, statistics, deleteButton(entry));
  return item;
}

function deleteButton(entry) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'danger quiet';
  // Two clicks, since nothing brings it back; looking away takes the first one back.
  const ask = (sure) => {
    button.textContent = sure ? 'Really delete' : 'Delete';
    button.setAttribute('aria-label', `${button.textContent} ${entry.shortCode}`);
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
    if (await deleteLink(entry)) show();
    else button.removeAttribute('aria-busy');
    document.getElementById('own-heading')?.focus();
  });
  return button;
}

function show() {
  const section = document.querySelector('[data-own-links]');
  if (!section) return;
  const links = readAll();
  section.hidden = links.length === 0;
  section.querySelector('ul').replaceChildren(...links.map(listItem));
}

const created = document.querySelector('[data-created]');
if (created) {
  const { created: shortCode, destination, expires: expiresAt } = created.dataset;
  const deleteToken = document.getElementById('created-token').value;
  const others = readAll().filter((link) => link.shortCode !== shortCode);
  writeAll([{ shortCode, destination, expiresAt, deleteToken }, ...others]);
}

const deleted = document.querySelector('[data-deleted]');
if (deleted) remove(deleted.dataset.deleted);

// Whoever made the link in this browser need not look for its token.
const deleteForm = document.querySelector('[data-delete-link]');
const known = deleteForm && readAll().find(({ shortCode }) => shortCode === deleteForm.dataset.deleteLink);
if (known && deleteForm.elements.token.value === '') deleteForm.elements.token.value = known.deleteToken;

window.addEventListener('storage', ({ key }) => {
  if (key === KEY) show();
});
show();
