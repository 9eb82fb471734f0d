// Pages that only say something: not found, too many requests, something broke.
import { statusMessage } from '../../pages/status-message.ts';
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
  const action = { href: '/', text: 'New paste' };
  return layout({ assets, title }, statusMessage({ status, title, hint, action }));
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
