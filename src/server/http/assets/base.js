// What the pages of every service share: theme switch, copy buttons, messages, and what only a script can offer.
// Other scripts ask for a message with `document.dispatchEvent(new CustomEvent('say', { detail: text }))`.

const themes = ['system', 'light', 'dark'];
const root = document.documentElement;

function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Refused storage only means that the choice ends with the page.
  }
}

function currentTheme() {
  return root.dataset.theme ?? 'system';
}

function prepareThemeSwitch(button) {
  const label = button.querySelector('.visually-hidden');
  const show = () => {
    const text = `Theme: ${currentTheme()}`;
    label.textContent = text;
    button.title = text;
  };
  button.hidden = false;
  show();
  button.addEventListener('click', () => {
    const next = themes[(themes.indexOf(currentTheme()) + 1) % themes.length];
    if (next === 'system') delete root.dataset.theme;
    else root.dataset.theme = next;
    remember('theme', next);
    show();
    say(`Theme: ${next}`);
  });
}

let clearing;

function say(text) {
  const toast = document.querySelector('[data-toast]');
  toast.textContent = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => {
    toast.textContent = '';
  }, 4000);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

// Pages that are not served by https have no clipboard; the old command still works there.
function copyBySelection(text) {
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'visually-hidden';
  document.body.append(field);
  const focused = document.activeElement;
  field.select();
  let copied = false;
  try {
    copied = document.execCommand('copy');
  } catch {
    copied = false;
  }
  field.remove();
  focused?.focus();
  return copied;
}

async function copyFrom(button) {
  const id = button.dataset.copyField;
  const text =
    id === undefined
      ? document.querySelector('#content code').textContent
      : document.getElementById(id).value;
  if (!(await copyText(text))) {
    say('Copying was refused by the browser. Select the text and copy it by hand.');
    return;
  }
  say('Copied');
  const label = button.querySelector('span');
  if (!label || button.dataset.copied) return;
  const before = label.textContent;
  button.dataset.copied = 'yes';
  label.textContent = 'Copied';
  setTimeout(() => {
    label.textContent = before;
    delete button.dataset.copied;
  }, 1500);
}

function offer(container) {
  for (const element of container.querySelectorAll(
    '[data-needs-script], [data-copy-field], [data-copy-content]',
  )) {
    element.hidden = false;
  }
}

for (const button of document.querySelectorAll('[data-theme-switch]')) prepareThemeSwitch(button);
offer(document);
document.addEventListener('say', (event) => say(event.detail));
document.addEventListener('content-added', (event) => offer(event.target));
document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy-field], [data-copy-content]');
  if (button) copyFrom(button);
});
