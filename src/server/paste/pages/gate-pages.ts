// Pages that stand before a paste: its password, and the warning that opening it deletes it.
import { html } from 'ghtml';
import { formatBytes } from '../../pages/format.ts';
import { icon } from '../../pages/icons.ts';
import { relativeTime } from '../../pages/relative-time.ts';
import { type AssetUrl, layout } from './layout.ts';

export interface PasswordPageData {
  assets: AssetUrl;
  pasteId: string;
  /** Whether the paste is also deleted when it is opened. */
  burnAfterRead: boolean;
  /** Why the last attempt failed. */
  error?: string | undefined;
  /** Range of lines that the address asked to mark. */
  lines?: string | undefined;
}

/** Asks for the password; the form posts `password` to the paste's own address. */
export function passwordPage({ assets, pasteId, burnAfterRead, error, lines }: PasswordPageData): string {
  const warning = html`<p class="notice warning">!${icon('flame')}<span>It can be read once: with the right password it is shown to you and deleted.</span></p>`;
  const problem = html`<p class="field-error" id="password-error" role="alert">${error}</p>`;
  const invalid = error === undefined ? '' : 'aria-invalid="true" aria-describedby="password-error"';
  return layout(
    { assets, title: error === undefined ? 'Password needed' : 'Error: password needed' },
    html`<section class="card gate">
<div class="gate-icon">!${icon('lock')}</div>
<h1>This paste is protected</h1>
!${burnAfterRead ? warning : ''}
<form method="post" action="/${pasteId}" class="stack">
!${linesField(lines)}<div class="field">
<label for="password">Password</label>
<input id="password" name="password" type="password" required maxlength="128" autocomplete="off" autofocus !${invalid}>
!${error === undefined ? '' : problem}
</div>
<button class="primary" type="submit">!${burnAfterRead ? 'Show and delete' : 'Show the paste'}</button>
</form>
</section>`,
  );
}

export interface BurnPageData {
  assets: AssetUrl;
  pasteId: string;
  title: string | null;
  sizeBytes: number;
  createdAt: Date;
  expiresAt: Date;
  now: Date;
  /** Range of lines that the address asked to mark. */
  lines?: string | undefined;
}

/** Stands before a burn-after-read paste, so that a link preview does not burn it; the form posts `open=yes`. */
export function burnPage(data: BurnPageData): string {
  const { assets, pasteId, title, sizeBytes, createdAt, expiresAt, now, lines } = data;
  return layout(
    { assets, title: 'Burn after reading' },
    html`<section class="card gate">
<div class="gate-icon warm">!${icon('flame')}</div>
<h1>This will be deleted when you open it</h1>
<p>The paste can be read once, by one person. Open it when you are ready to read or save it.</p>
<dl class="facts">
!${title === null ? '' : html`<div><dt>Title</dt><dd>${title}</dd></div>`}
<div><dt>Size</dt><dd>${formatBytes(sizeBytes)}</dd></div>
<div><dt>Created</dt><dd>!${relativeTime(createdAt, now)}</dd></div>
<div><dt>Expires unread</dt><dd>!${relativeTime(expiresAt, now)}</dd></div>
</dl>
<form method="post" action="/${pasteId}" class="stack">
!${linesField(lines)}<input type="hidden" name="open" value="yes">
<button class="primary" type="submit">Show and delete</button>
</form>
</section>`,
  );
}

/** Carries the range through the form, since its answer has another address. */
function linesField(lines: string | undefined): string {
  if (lines === undefined) return '';
  return html`<input type="hidden" name="lines" value="${lines}">
`;
}
