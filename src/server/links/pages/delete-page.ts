// Deleting a link by its token.
import { html } from 'ghtml';
import { icon } from '../../pages/icons.ts';
import type { AssetUrl } from '../../pages/layout.ts';
import { layout } from './layout.ts';

export interface DeletePageData {
  assets: AssetUrl;
  shortCode: string;
  /** What was given before, to be corrected. */
  token?: string | undefined;
  error?: string | undefined;
}

/** Asks for the delete token; says nothing about whether the link exists. */
export function deletePage({ assets, shortCode, token, error }: DeletePageData): string {
  const problem = html`<p class="field-error" id="token-error" role="alert">${error}</p>`;
  const invalid = error === undefined ? '' : 'aria-invalid="true" aria-describedby="token-error"';
  return layout(
    { assets, title: error === undefined ? 'Delete a link' : 'Error: delete a link' },
    html`<section class="card gate">
<div class="gate-icon">!${icon('trash')}</div>
<h1>Delete this link</h1>
<p><code>/${shortCode}</code> will stop working at once and for everyone, and its statistics go with it.</p>
<form method="post" action="/${shortCode}/delete" class="stack" data-delete-link="${shortCode}">
<div class="field">
<label for="token">Delete token</label>
<input id="token" name="token" class="mono" required maxlength="200" autocomplete="off" spellcheck="false" autocapitalize="off" placeholder="dk_…" value="${token ?? ''}" !${invalid}>
<p class="hint">It was shown once, when the link was created.</p>
!${error === undefined ? '' : problem}
</div>
<button class="danger" type="submit">Delete for good</button>
</form>
</section>`,
  );
}

export interface DeletedPageData {
  assets: AssetUrl;
  shortCode: string;
}

/** After a deletion. */
export function deletedPage({ assets, shortCode }: DeletedPageData): string {
  return layout(
    { assets, title: 'Deleted' },
    html`<section class="card message" data-deleted="${shortCode}">
<div class="gate-icon">!${icon('check')}</div>
<h1>The link is deleted</h1>
<p><code>/${shortCode}</code> leads nowhere now, and its clicks are forgotten.</p>
<p class="actions"><a class="button primary" href="/">New link</a></p>
</section>`,
  );
}
