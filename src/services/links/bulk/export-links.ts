// Every link, a page at a time, so that an export of millions takes no more memory than one of hundreds.
import { stringify } from 'csv-stringify/sync';
import type { Platform } from '../../../platform/platform.ts';

export interface ExportedLink {
  shortCode: string;
  originalUrl: string;
  createdAt: string;
  expiresAt: string | null;
  clickCount: number;
  /** Without secrets: an import must know that a link had a password which it cannot give it. */
  hasPassword?: boolean;
  passwordHash?: string | null;
  /** Hexadecimal. */
  deleteTokenHash?: string | null;
}

export type ExportFormat = 'csv' | 'json';

export interface ExportOptions {
  format: ExportFormat;
  /** Also the hashes of passwords and delete tokens, with which an import keeps both working. */
  withSecrets?: boolean;
}

const LINKS_A_PAGE = 2_000;
const COLUMNS = ['shortCode', 'originalUrl', 'createdAt', 'expiresAt', 'clickCount'];
const SECRETS = ['passwordHash', 'deleteTokenHash'];

/**
 * Exports all links in the order of their creation, as text for a file: CSV with a header, or one JSON object a line.
 *
 * @returns each page with how many links it holds
 */
export async function* exportLinks(
  parts: Pick<Platform, 'database'>,
  { format, withSecrets = false }: ExportOptions,
): AsyncGenerator<{ text: string; links: number }> {
  const columns = [...COLUMNS, ...(withSecrets ? SECRETS : ['hasPassword'])];
  if (format === 'csv') yield { text: `${columns.join(',')}\n`, links: 0 };
  for await (const links of pagesOf(parts, withSecrets)) {
    const text = format === 'csv' ? toCsv(links, columns) : toJsonLines(links);
    yield { text, links: links.length };
  }
}

async function* pagesOf(
  { database }: Pick<Platform, 'database'>,
  withSecrets: boolean,
): AsyncGenerator<ExportedLink[]> {
  let after = 0;
  for (;;) {
    const rows = await database
      .selectFrom('link')
      .leftJoin('clickSummary', 'clickSummary.linkKey', 'link.linkKey')
      .select(['link.linkKey', 'shortCode', 'originalUrl', 'createdAt', 'expiresAt', 'clickSummary.clicks'])
      .select(['passwordHash', 'deleteTokenHash'])
      .where('link.linkKey', '>', after)
      .orderBy('link.linkKey')
      .limit(LINKS_A_PAGE)
      .execute();
    const last = rows.at(-1);
    if (!last) return;
    yield rows.map(
      ({ shortCode, originalUrl, createdAt, expiresAt, clicks, passwordHash, deleteTokenHash }) => ({
        shortCode,
        originalUrl,
        createdAt: createdAt.toISOString(),
        expiresAt: expiresAt?.toISOString() ?? null,
        clickCount: clicks ?? 0,
        ...(withSecrets
          ? { passwordHash, deleteTokenHash: deleteTokenHash?.toString('hex') ?? null }
          : { hasPassword: passwordHash !== null }),
      }),
    );
    after = last.linkKey;
  }
}

/** Rows of CSV, without a header. Values are exact; what would end a field early is quoted. */
export function toCsv(rows: readonly object[], columns: readonly string[]): string {
  return stringify([...rows], {
    columns: [...columns],
    cast: { boolean: String },
    // Whichever separator and line end a reader goes by.
    quoted_match: /[\r\n;\t]|^\s|\s$/,
  });
}

function toJsonLines(links: readonly ExportedLink[]): string {
  return links.map((link) => `${JSON.stringify(link)}\n`).join('');
}
