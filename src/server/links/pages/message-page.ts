// Pages that only say something: not found, expired, too many requests, something broke.
import type { AssetUrl } from '../../pages/layout.ts';
import { statusMessage } from '../../pages/status-message.ts';
import { layout } from './layout.ts';

export interface ErrorPageData {
  assets: AssetUrl;
  /** HTTP status, shown small. */
  status: number;
  title: string;
  /** What the reader can do about it. */
  message: string;
}

/** For any failure that has no page of its own. */
export function errorPage({ assets, status, title, message }: ErrorPageData): string {
  const action = { href: '/', text: 'New link' };
  return layout({ assets, title }, statusMessage({ status, title, hint: message, action }));
}

/** For an unknown or deleted link, and any unknown path. */
export function notFoundPage({ assets }: { assets: AssetUrl }): string {
  return errorPage({
    assets,
    status: 404,
    title: 'There is nothing here',
    message: 'This short link does not exist or was deleted. Capitals matter: /Abc and /abc are two links.',
  });
}

/** For a link whose time is over. */
export function expiredPage({ assets }: { assets: AssetUrl }): string {
  return errorPage({
    assets,
    status: 410,
    title: 'This link has expired',
    message: 'Whoever made it set a time for it, and that is over. Ask them for a new one.',
  });
}
