// After a paste was made: its address, and the delete token, this once.
import { html } from 'ghtml';
import { icon } from '../../pages/icons.ts';
import { relativeTime } from '../../pages/relative-time.ts';
import { type AssetUrl, layout } from './layout.ts';

export interface CreatedPanelData {
  pasteId: string;
  url: string;
  rawUrl: string;
  deleteToken: string;
  title?: string | null | undefined;
  expiresAt: Date;
  hasPassword: boolean;
  burnAfterRead: boolean;
  /** A finished `<svg>` of the address. */
  qrSvg?: string | undefined;
  now: Date;
}

export interface CreatedPageData extends CreatedPanelData {
  assets: AssetUrl;
}

/** The page after the form was posted without JavaScript. */
export function createdPage({ assets, ...created }: CreatedPageData): string {
  return layout({ assets, title: 'Paste created' }, createdPanel(created));
}

/** The panel alone; without data it is the template that the page's script fills in (`data-field`). */
export function createdPanel(created?: CreatedPanelData): string {
  const { pasteId = '', url = '', rawUrl = '', deleteToken = '' } = created ?? {};
  const expires = created === undefined ? '' : relativeTime(created.expiresAt, created.now);
  return html`<section class="card created" data-created data-paste="${pasteId}" data-title="${created?.title ?? ''}" data-burn="${created?.burnAfterRead ?? false}" data-expires="${created?.expiresAt.toISOString() ?? ''}">
<h1 tabindex="-1">!${icon('check')} Your paste is ready</h1>
<div class="field">
<label for="created-url">Address</label>
<div class="with-button"><input id="created-url" class="mono" readonly data-field="url" value="${url}"><button type="button" data-copy-field="created-url" hidden>!${icon('copy')}<span>Copy</span></button></div>
<p class="hint">Expires <span data-field="expires">!${expires}</span>.<span data-when="password" !${hiddenUnless(created?.hasPassword)}> Readers need the password.</span><span data-when="burn" !${hiddenUnless(created?.burnAfterRead)}> The first reader burns it: do not open it yourself.</span></p>
</div>
<p class="actions">
<a class="button primary" data-field="open" href="${url}" !${hiddenIf(created?.burnAfterRead)}>!${icon('open')}<span>Open</span></a>
<a class="button" data-field="raw" href="${rawUrl}" !${hiddenIf(created?.burnAfterRead || created?.hasPassword)}>!${icon('raw')}<span>Raw</span></a>
<a class="button" href="/">New paste</a>
</p>
!${created?.qrSvg === undefined ? '' : `<div class="qr">${created.qrSvg}</div>`}
<div class="token">
<div class="field">
<label for="created-token">Delete token</label>
<div class="with-button"><input id="created-token" class="mono" readonly data-field="token" value="${deleteToken}"><button type="button" data-copy-field="created-token" hidden>!${icon('copy')}<span>Copy</span></button></div>
<p class="hint">Shown this once. Whoever has it can delete the paste before it expires.</p>
</div>
<form method="post" action="/${pasteId}/delete" data-field="delete">
<input type="hidden" name="token" data-field="token" value="${deleteToken}">
<button type="submit" class="danger quiet">!${icon('trash')}<span>Delete now</span></button>
</form>
</div>
</section>`;
}

function hiddenUnless(shown: boolean | undefined): string {
  return shown ? '' : 'hidden';
}

function hiddenIf(hidden: boolean | undefined): string {
  return hidden ? 'hidden' : '';
}
