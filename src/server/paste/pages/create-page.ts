// The front page: an editor, and in one row below it everything that may be said about the paste.
import { html } from 'ghtml';
import { MAX_CONTENT_BYTES } from '../../../services/paste/create-paste.ts';
import { fileNamesByLanguage, languages, PLAIN_TEXT } from '../../../services/paste/languages.ts';
import { describedByError, type FieldErrors, fieldError, formError } from '../../pages/field-errors.ts';
import { icon } from '../../pages/icons.ts';
import { createdPanel } from './created-page.ts';
import { type AssetUrl, layoutParts, type PageParts } from './layout.ts';

/** Fields of the form, by the names it posts them under. `burnAfterRead` is a checkbox of value `true`. */
export interface CreateFormValues {
  title: string;
  language: string;
  expiresIn: string;
  password: string;
  burnAfterRead: boolean;
  customId: string;
}

export interface CreatePageData {
  assets: AssetUrl;
  /** What to fill in: what was posted, or the paste that the new one starts from. */
  values?: Partial<CreateFormValues> | undefined;
  errors?: FieldErrors | undefined;
}

const expiries = [
  ['10min', '10 minutes'],
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['1w', '1 week'],
  ['1mo', '1 month'],
  ['1y', '1 year'],
] as const;

const commonLanguages = [
  PLAIN_TEXT,
  'markdown',
  'shellscript',
  'log',
  'diff',
  'json',
  'yaml',
  'toml',
  'xml',
  'html',
  'css',
  'javascript',
  'typescript',
  'python',
  'go',
  'rust',
  'java',
  'kotlin',
  'swift',
  'c',
  'cpp',
  'csharp',
  'php',
  'ruby',
  'sql',
  'docker',
];

/** The page around the content of the editor; send `head`, the bytes of `renderText` (or nothing), `tail`. */
export function createPage({ assets, values = {}, errors = {} }: CreatePageData): PageParts {
  const failed = Object.keys(errors).length > 0;
  const { head, tail } = layoutParts({
    assets,
    title: failed ? 'Error: new paste' : 'New paste',
    current: 'new',
    body: 'fill',
    styles: ['editor.css'],
    scripts: ['editor.js'],
  });
  // A parser drops a line feed right after <textarea>: this one is there to be dropped, not the content's own.
  const start = html`<h1 class="visually-hidden">New paste</h1>
<form class="composer" method="post" action="/" data-create-form data-max-bytes="${MAX_CONTENT_BYTES}">
!${formError(errors, 'The paste was not created. Look at the marked fields.')}
<div class="editor">
<div class="editor-head">
<label class="visually-hidden" for="title">Title (optional)</label>
<input id="title" name="title" class="title-input" placeholder="Untitled paste" maxlength="100" autocomplete="off" value="${values.title ?? ''}" !${describedByError('title', errors)}>
<label class="visually-hidden" for="language">Language</label>
<select id="language" name="language" !${describedByError('language', errors)}>!${languageOptions(values.language)}</select>
<label class="button quiet file-button" data-needs-script hidden><input type="file" class="visually-hidden" data-file-input><span class="file-label">!${icon('file')}Open a file</span></label>
</div>
!${fieldError('title', errors)}!${fieldError('language', errors)}
<label class="visually-hidden" for="text">Content</label>
<textarea id="text" name="content" required spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off" placeholder="Paste or type here, or drop a file" autofocus !${describedByError('content', errors)}>
`;
  const end = html`</textarea>
!${fieldError('content', errors)}
<div class="editor-foot">
<label class="check" data-needs-script hidden><input type="checkbox" data-tab-switch> Tab key indents <span class="hint">(Esc, then Tab leaves)</span></label>
<span class="counter" data-counter>at most 1 MiB</span>
</div>
</div>
<div class="options">
<div class="field">
<label for="expires">Expires after</label>
<select id="expires" name="expiresIn" !${describedByError('expiresIn', errors)}>!${expiryOptions(values.expiresIn)}</select>
!${fieldError('expiresIn', errors)}
</div>
<div class="field">
<label for="password">Password <span class="hint">optional</span></label>
<input id="password" name="password" type="password" maxlength="128" autocomplete="new-password" value="${values.password ?? ''}" !${describedByError('password', errors)}>
!${fieldError('password', errors)}
</div>
<div class="field">
<label for="custom-id">Address <span class="hint">optional</span></label>
<div class="prefixed"><span aria-hidden="true">/</span><input id="custom-id" name="customId" minlength="4" maxlength="32" pattern="[a-zA-Z0-9_\-]{4,32}" title="4 to 32 letters, digits, - or _" placeholder="chosen for you" autocomplete="off" autocapitalize="off" spellcheck="false" value="${values.customId ?? ''}" !${describedByError('customId', errors)}></div>
!${fieldError('customId', errors)}
</div>
<div class="field check-field">
<label class="check"><input type="checkbox" name="burnAfterRead" value="true" !${values.burnAfterRead ? 'checked' : ''}> Burn after reading</label>
!${fieldError('burnAfterRead', errors)}
</div>
<button class="primary create" type="submit"><span>Create paste</span><kbd data-needs-script hidden aria-hidden="true">Ctrl ↵</kbd></button>
</div>
</form>
<template data-created-template>!${createdPanel()}</template>
<section class="own-pastes" aria-labelledby="own-heading" data-own-pastes hidden>
<h2 id="own-heading" tabindex="-1">Pasted from this browser</h2>
<ul></ul>
<p class="hint">This list, with the delete tokens, is kept in this browser and nowhere else.</p>
</section>`;
  return { head: head + start, tail: end + tail };
}

function expiryOptions(selected = '1w'): string {
  return expiries
    .map(([id, name]) => html`<option value="${id}" !${id === selected ? 'selected' : ''}>${name}</option>`)
    .join('');
}

let groups: Array<{ label: string; options: Array<{ id: string; name: string; files: string }> }> | undefined;

function languageGroups() {
  if (groups) return groups;
  const files = fileNamesByLanguage();
  const byId = new Map(
    languages().map(({ id, name }) => [id, { id, name, files: (files.get(id) ?? []).join(' ') }]),
  );
  const common = commonLanguages.map((id) => byId.get(id)).filter((found) => found !== undefined);
  const rest = [...byId.values()].filter(({ id }) => !commonLanguages.includes(id));
  groups = [
    { label: 'Common', options: common },
    { label: 'All others', options: rest },
  ];
  return groups;
}

function languageOptions(selected = PLAIN_TEXT): string {
  return languageGroups()
    .map(({ label, options }) => {
      const all = options.map(
        ({ id, name, files }) =>
          html`<option value="${id}" data-files="${files}" !${id === selected ? 'selected' : ''}>${name}</option>`,
      );
      return html`<optgroup label="${label}">!${all}</optgroup>`;
    })
    .join('');
}
