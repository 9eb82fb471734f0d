// After a link was made: its short URL, its QR code, and the delete token, this once.
import { html } from 'ghtml';
import { icon } from '../../pages/icons.ts';
import type { AssetUrl } from '../../pages/layout.ts';
import { relativeTime } from '../../pages/relative-time.ts';
import { destinationLink } from './destination.ts';
import { layout } from './layout.ts';

export interface CreatedPageData {
  assets: AssetUrl;
  shortUrl: string;
  shortCode: string;
  originalUrl: string;
  deleteToken: string;
  expiresAt: Date | null;
  hasPassword: boolean;
  /** A finished `<svg>` of the short URL. */
  qrSvg: string;
  now: Date;
}

/** The page after the form was posted. */
export function createdPage(data: CreatedPageData): string {
  const { assets, shortUrl, shortCode, originalUrl, deleteToken, expiresAt, qrSvg } = data;
  return layout(
    { assets, title: 'Link created', body: 'medium' },
    html`<section class="card created" data-created="${shortCode}" data-destination="${originalUrl}" data-expires="${expiresAt?.toISOString() ?? ''}">
<div class="created-link">
<div class="created-main">
<h1>!${icon('check')} Your short link is ready</h1>
<div class="field">
<label for="created-url">Short URL</label>
<div class="with-button"><input id="created-url" class="mono short-url" readonly value="${shortUrl}"><button type="button" class="primary" data-copy-field="created-url" hidden>!${icon('copy')}<span>Copy</span></button></div>
</div>
<p class="leads-to"><span class="hint">leads to</span> !${destinationLink(originalUrl)}</p>
<p class="hint">!${conditions(data)}</p>
<p class="actions">
<a class="button" href="/${shortCode}+">!${icon('eye')}<span>Preview</span></a>
<a class="button" href="/${shortCode}/stats">!${icon('chart')}<span>Statistics</span></a>
<a class="button" href="/">New link</a>
</p>
</div>
<figure class="qr">
<div role="img" aria-label="QR code of ${shortUrl}">!${qrSvg}</div>
<figcaption><a href="/api/links/${shortCode}/qr" download="${shortCode}.png">PNG</a> <a href="/api/links/${shortCode}/qr?format=svg" download="${shortCode}.svg">SVG</a></figcaption>
</figure>
</div>
<div class="token">
<div class="field">
<label for="created-token">Delete token</label>
<div class="with-button"><input id="created-token" class="mono" readonly value="${deleteToken}" aria-describedby="token-hint"><button type="button" data-copy-field="created-token" hidden>!${icon('copy')}<span>Copy</span></button></div>
<p class="hint" id="token-hint"><strong>Keep it now: it cannot be shown again.</strong> Whoever has it can delete the link, and nobody can without it.</p>
</div>
<a class="button danger quiet" href="/${shortCode}/delete">!${icon('trash')}<span>Delete…</span></a>
</div>
</section>`,
  );
}

function conditions({ expiresAt, hasPassword, now }: CreatedPageData): string {
  const life = expiresAt === null ? 'It never expires.' : `It expires ${relativeTime(expiresAt, now)}.`;
  return hasPassword ? `${life} Visitors need the password.` : life;
}
