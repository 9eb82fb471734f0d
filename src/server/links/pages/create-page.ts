// The front page: one large field for the long URL, and below it what else may be said about the link.
import { html } from 'ghtml';
import { describedByError, type FieldErrors, fieldError, formError } from '../../pages/field-errors.ts';
import type { AssetUrl } from '../../pages/layout.ts';
import { layout } from './layout.ts';

/** Fields of the form, by the names it posts them under. */
export interface CreateFormValues {
  url: string;
  customCode: string;
  password: string;
  /** One of the form's choices; empty means never. */
  expiresIn: string;
}

export interface CreatePageData {
  assets: AssetUrl;
  /** What to fill in: what was posted. */
  values?: Partial<CreateFormValues> | undefined;
  errors?: FieldErrors | undefined;
}

const expiries = [
  ['', 'Never'],
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['1w', '1 week'],
  ['1mo', '1 month'],
  ['1y', '1 year'],
] as const;

/** The form that creates a link, and the list of those that this browser created. */
export function createPage({ assets, values = {}, errors = {} }: CreatePageData): string {
  const failed = Object.keys(errors).length > 0;
  return layout(
    { assets, title: failed ? 'Error: new link' : 'New link', current: 'new', body: 'medium' },
    html`<form class="shortener" method="post" action="/">
<h1>Shorten a link</h1>
!${formError(errors, 'The link was not created. Look at the marked fields.')}
<div class="card stack">
<div class="field url-field">
<label for="url">Long URL</label>
<input id="url" name="url" type="url" required maxlength="2048" placeholder="https://example.com/a/long/address" autocomplete="off" autocapitalize="off" spellcheck="false" autofocus value="${values.url ?? ''}" !${describedByError('url', errors)}>
!${fieldError('url', errors)}
<button class="primary" type="submit">Shorten</button>
</div>
<div class="options">
<div class="field">
<label for="custom-code">Short code <span class="hint">optional</span></label>
<div class="prefixed"><span aria-hidden="true">/</span><input id="custom-code" name="customCode" minlength="3" maxlength="20" pattern="[a-zA-Z0-9_\-]{3,20}" title="3 to 20 letters, digits, - or _" placeholder="chosen for you" autocomplete="off" autocapitalize="off" spellcheck="false" value="${values.customCode ?? ''}" !${describedByError('customCode', errors)}></div>
!${fieldError('customCode', errors)}
</div>
<div class="field">
<label for="expires">Expires after</label>
<select id="expires" name="expiresIn" !${describedByError('expiresIn', errors)}>!${expiryOptions(values.expiresIn)}</select>
!${fieldError('expiresIn', errors)}
</div>
<div class="field">
<label for="password">Password <span class="hint">optional</span></label>
<input id="password" name="password" type="password" minlength="4" maxlength="100" autocomplete="new-password" value="${values.password ?? ''}" !${describedByError('password', errors)}>
!${fieldError('password', errors)}
</div>
</div>
</div>
</form>
<section class="own-links" aria-labelledby="own-heading" data-own-links hidden>
<h2 id="own-heading" tabindex="-1">Shortened in this browser</h2>
<ul></ul>
<p class="hint">This list, with the delete tokens, is kept in this browser and nowhere else.</p>
</section>`,
  );
}

function expiryOptions(selected = ''): string {
  return expiries
    .map(([id, name]) => html`<option value="${id}" !${id === selected ? 'selected' : ''}>${name}</option>`)
    .join('');
}
