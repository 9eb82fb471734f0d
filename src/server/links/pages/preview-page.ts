// What a link is, for those who would rather look before they follow it.
import { html } from 'ghtml';
import { formatQuantity } from '../../pages/format.ts';
import { icon } from '../../pages/icons.ts';
import type { AssetUrl } from '../../pages/layout.ts';
import { relativeTime } from '../../pages/relative-time.ts';
import { destinationLink, hostOf } from './destination.ts';
import { layout } from './layout.ts';

export interface PreviewPageData {
  assets: AssetUrl;
  shortUrl: string;
  shortCode: string;
  /** Null when it is withheld: the link has a password, or has expired. */
  originalUrl: string | null;
  hasPassword: boolean;
  isExpired: boolean;
  createdAt: Date;
  expiresAt: Date | null;
  clickCount: number;
  now: Date;
}

/** Shows where a link leads without going there; looking is no click. */
export function previewPage(data: PreviewPageData): string {
  const { assets, shortUrl, shortCode, createdAt, expiresAt, clickCount, now } = data;
  return layout(
    { assets, title: 'Where a link leads' },
    html`<section class="card preview">
<div>
<h1>Where this link leads</h1>
<p class="mono preview-short">${shortUrl}</p>
</div>
!${destination(data)}
<dl class="facts">
<div><dt>Created</dt><dd>!${relativeTime(createdAt, now)}</dd></div>
<div><dt>!${data.isExpired ? 'Expired' : 'Expires'}</dt><dd>!${expiresAt === null ? 'never' : relativeTime(expiresAt, now)}</dd></div>
<div><dt>Followed</dt><dd>${formatQuantity(clickCount, 'time')}</dd></div>
</dl>
<p class="actions">
!${wayOn(data)}
<a class="button" href="/${shortCode}/stats">!${icon('chart')}<span>Statistics</span></a>
</p>
</section>`,
  );
}

function destination({ originalUrl, isExpired, hasPassword }: PreviewPageData): string {
  if (isExpired) {
    return html`<p class="notice warning">!${icon('clock')}<span>This link has expired. It leads nowhere any more.</span></p>`;
  }
  if (hasPassword || originalUrl === null) {
    return html`<p class="notice">!${icon('lock')}<span>The destination is shown only to those who have the password.</span></p>`;
  }
  return html`<p class="destination-box">!${destinationLink(originalUrl)}</p>`;
}

// Through the short link rather than straight to the destination, so that it counts like any other click.
function wayOn({ originalUrl, isExpired, shortCode }: PreviewPageData): string {
  if (isExpired) return '';
  const host = originalUrl === null ? undefined : hostOf(originalUrl);
  const text =
    originalUrl === null ? 'Enter the password' : `Continue${host === undefined ? '' : ` to ${host}`}`;
  return html`<a class="button primary continue" href="/${shortCode}" rel="noopener noreferrer nofollow">!${icon(originalUrl === null ? 'lock' : 'open')}<span>${text}</span></a>`;
}
