// Stands before a protected link.
import { html } from 'ghtml';
import { icon } from '../../pages/icons.ts';
import type { AssetUrl } from '../../pages/layout.ts';
import { layout } from './layout.ts';

export interface UnlockPageData {
  assets: AssetUrl;
  shortCode: string;
  /** Why the last attempt failed. */
  error?: string | undefined;
}

/** Asks for the password; the form posts `password` to the link's own address. */
export function unlockPage({ assets, shortCode, error }: UnlockPageData): string {
  const problem = html`<p class="field-error" id="password-error" role="alert">${error}</p>`;
  const invalid = error === undefined ? '' : 'aria-invalid="true" aria-describedby="password-error"';
  return layout(
    { assets, title: error === undefined ? 'Password needed' : 'Error: password needed' },
    html`<section class="card gate">
<div class="gate-icon">!${icon('lock')}</div>
<h1>This link is protected</h1>
<p>With the password, <code>/${shortCode}</code> takes you on to where it leads.</p>
<form method="post" action="/${shortCode}" class="stack">
<div class="field">
<label for="password">Password</label>
<input id="password" name="password" type="password" required maxlength="100" autocomplete="off" autofocus !${invalid}>
!${error === undefined ? '' : problem}
</div>
<button class="primary" type="submit">Continue</button>
</form>
</section>`,
  );
}
