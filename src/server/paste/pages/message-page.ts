// Pages that only say something: not found, too many requests, something broke, deleted.
import { html } from 'ghtml';
import { type AssetUrl, layout } from './layout.ts';

export interface ErrorPageData {
  assets: AssetUrl;
  /** HTTP status, shown small. */
  status: number;
  title: string;
  /** What the reader can do about it. */
  hint: string;
}

/** For any failure that has no page of its own. */
export function errorPage({ assets, status, title, hint }: ErrorPageData): string {
  return layout(
    { assets, title },
    html`<section class="card message">
<p class="status-code">${status}</p>
<h1>${title}</h1>
<p>${hint}</p>
<p class="actions"><a class="button primary" href="/">New paste</a></p>
</section>`,
  );
}

/** For an unknown, expired, burned or deleted paste, and any unknown path. */
export function notFoundPage({ assets }: { assets: AssetUrl }): string {
  return errorPage({
    assets,
    status: 404,
    title: 'There is nothing here',
    hint: 'This paste does not exist, has expired, was deleted, or was burned after it had been read once.',
  });
}
