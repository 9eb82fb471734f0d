// Deleting a paste by its token.
import { html } from 'ghtml';
import { icon } from '../../pages/icons.ts';
import { type AssetUrl, layout } from './layout.ts';

export interface DeletePageData {
  assets: AssetUrl;
  pasteId: string;
  /** What was given before, to be corrected. */
  token?: string | undefined;
  error?: string | undefined;
}

/** Asks for the delete token; says nothing about whether the paste exists. */
export function deletePage({ assets, pasteId, token, error }: DeletePageData): string {
  const problem = html`<p class="field-error" id="token-error" role="alert">${error}</p>`;
  const invalid = error === undefined ? '' : 'aria-invalid="true" aria-describedby="token-error"';
  return layout(
    { assets, title: error === undefined ? 'Delete a paste' : 'Error: delete a paste' },
    html`<section class="card gate">
<div class="gate-icon">!${icon('trash')}</div>
<h1>Delete this paste</h1>
<p><code>/${pasteId}</code> will be gone at once and for everyone.</p>
<form method="post" action="/${pasteId}/delete" class="stack" data-delete-paste="${pasteId}">
<div class="field">
<label for="token">Delete token</label>
<input id="token" name="token" class="mono" required maxlength="200" autocomplete="off" spellcheck="false" autocapitalize="off" placeholder="dk_…" value="${token ?? ''}" !${invalid}>
<p class="hint">It was shown once, when the paste was created.</p>
!${error === undefined ? '' : problem}
</div>
<button class="danger" type="submit">Delete for good</button>
</form>
</section>`,
  );
}

export interface DeletedPageData {
  assets: AssetUrl;
  pasteId: string;
}

/** After a deletion. */
export function deletedPage({ assets, pasteId }: DeletedPageData): string {
  return layout(
    { assets, title: 'Deleted' },
    html`<section class="card message" data-deleted="${pasteId}">
<div class="gate-icon">!${icon('check')}</div>
<h1>The paste is deleted</h1>
<p>Its address answers as if it had never been.</p>
<p class="actions"><a class="button primary" href="/">New paste</a></p>
</section>`,
  );
}
