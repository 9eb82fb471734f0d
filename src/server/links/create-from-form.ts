// What happens to the form of the front page: the link and its QR code, or the form again with what is wrong.
import { z } from 'zod';
import { createLink } from '../../services/links/create-link.ts';
import type { LinkService } from '../../services/links/link-service.ts';
import { type FieldMessages, HttpError } from '../http/errors.ts';
import type { RouteReply } from '../http/route.ts';
import type { AssetUrl } from '../pages/layout.ts';
import { createPage } from './pages/create-page.ts';
import { createdPage } from './pages/created-page.ts';
import { shortUrlOf } from './represent.ts';
import { createLinkBody } from './schemas.ts';
import { translatingLinkErrors } from './translate-errors.ts';

/** What the form offers for the life of a link, in milliseconds. */
const EXPIRY_MS: Record<string, number> = {
  '1h': 3_600_000,
  '1d': 86_400_000,
  '1w': 7 * 86_400_000,
  '1mo': 30 * 86_400_000,
  '1y': 365 * 86_400_000,
};

/** Creates a link from the fields of the form. */
export async function createFromForm(
  service: LinkService,
  assets: AssetUrl,
  fields: Record<string, string>,
): Promise<RouteReply> {
  const { platform } = service;
  const now = platform.clock.now();
  const again = (status: number, errors: FieldMessages): RouteReply => ({
    status,
    body: createPage({ assets, values: fields, errors }),
  });
  const { expiresIn = '', ...others } = fields;
  const lifeMs = EXPIRY_MS[expiresIn];
  if (expiresIn !== '' && lifeMs === undefined) {
    return again(400, { expiresIn: [`must be one of ${Object.keys(EXPIRY_MS).join(', ')}`] });
  }
  // A browser sends every field of a form; an empty one is one that was not set.
  const set = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== ''));
  const parsed = createLinkBody(platform).safeParse({
    ...set,
    expiresAt: lifeMs === undefined ? null : new Date(now + lifeMs).toISOString(),
  });
  if (!parsed.success) return again(400, z.flattenError(parsed.error).fieldErrors);
  try {
    const created = await translatingLinkErrors(() => createLink(service, parsed.data));
    const shortUrl = shortUrlOf(platform.config, created.shortCode);
    const qrSvg = Buffer.from(await service.qrCodes.draw(shortUrl, 'svg')).toString();
    return { status: 201, body: createdPage({ assets, ...created, shortUrl, qrSvg, now: new Date(now) }) };
  } catch (error) {
    if (!(error instanceof HttpError) || !['CONFLICT', 'BAD_REQUEST'].includes(error.code)) throw error;
    return again(error.statusCode, error.details ?? { customCode: [error.message] });
  }
}
