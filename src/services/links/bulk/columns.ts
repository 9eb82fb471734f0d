// Which column of a file says what, in the words of the services that people come from.
//
// - ours: what export-links.ts writes, and a link as our API answers it
// - YOURLS: the columns of its table `yourls_url` (YOURLS/YOURLS, includes/functions-install.php: keyword, url, title,
//   timestamp, ip, clicks), and `source,target,hits` of the plugin GautamGupta/YOURLS-Import-Export (fileio/csv.php),
//   which writes a keyword as `/keyword/`
// - Shlink: `createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits` of the web client
//   (shlinkio/shlink-web-component, ExportShortUrlsBtn.tsx), the CSV that its importer takes (`Long URL;Tags;Domain;
//   Short code;Title`; shlinkio/shlink-importer, CsvImporter.php: case and spaces of a name mean nothing), and a short
//   URL of its REST API (shlinkio/shlink, docs/swagger/definitions/ShortUrl.json and ShortUrlMeta.json)
// - Kutt: a link of its API, and the columns of its table `links` (thedevs-network/kutt, server/models/link.model.js and
//   server/handlers/links.handler.js: address, target, password, banned, visit_count, expire_in, created_at)

/** What is understood of a row. */
export const BULK_FIELDS = [
  'shortCode',
  'originalUrl',
  'createdAt',
  'expiresAt',
  'clickCount',
  'hasPassword',
  'password',
  'banned',
  'passwordHash',
  'deleteTokenHash',
  'validSince',
  'maxVisits',
] as const;

export type BulkField = (typeof BULK_FIELDS)[number];

/** A row as the file has it; empty values are left out. */
export type BulkRow = Partial<Record<BulkField, string>>;

// Lower case, without spaces, `_` and `-`. Where a file has several of a field, the first here counts.
const NAMES: Record<BulkField, readonly string[]> = {
  shortCode: ['shortcode', 'keyword', 'source', 'address', 'code', 'slug'],
  originalUrl: ['originalurl', 'longurl', 'url', 'target'],
  createdAt: ['createdat', 'datecreated', 'timestamp'],
  expiresAt: ['expiresat', 'meta.validuntil', 'validuntil', 'expirein'],
  clickCount: ['clickcount', 'clicks', 'visitssummary.total', 'visitscount', 'visitcount', 'visits', 'hits'],
  hasPassword: ['haspassword'],
  password: ['password'],
  banned: ['banned'],
  passwordHash: ['passwordhash'],
  deleteTokenHash: ['deletetokenhash'],
  validSince: ['meta.validsince', 'validsince'],
  maxVisits: ['meta.maxvisits', 'maxvisits'],
};

const KNOWN_NAMES = new Set(Object.values(NAMES).flat());

/** Those of the names that mean nothing here. */
export function ignoredOf(names: readonly string[]): string[] {
  return names.filter((name) => name.trim() !== '' && !KNOWN_NAMES.has(normalName(name)));
}

/** Where each field stands in a row under these headers; fields that the file has not are left out. */
export function columnsOf(headers: readonly string[]): Map<BulkField, number> {
  const normal = headers.map(normalName);
  const columns = new Map<BulkField, number>();
  for (const field of BULK_FIELDS) {
    const index = NAMES[field].map((name) => normal.indexOf(name)).find((found) => found >= 0);
    if (index !== undefined) columns.set(field, index);
  }
  return columns;
}

/** Names and values of an object of JSON. */
export type Values = ReadonlyArray<readonly [name: string, value: unknown]>;

/** The members of an object of JSON; those of objects in it are named like `meta.validUntil`. */
export function valuesOf(object: Record<string, unknown>): Values {
  return Object.entries(object).flatMap(([name, value]) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value] as const];
    return Object.entries(value).map(([inner, one]) => [`${name}.${inner}`, one] as const);
  });
}

/** The row that an object of JSON is. */
export function rowOfObject(members: Values): BulkRow {
  const values = new Map(members.map(([name, value]) => [normalName(name), value]));
  const row: BulkRow = {};
  for (const field of BULK_FIELDS) {
    const value = NAMES[field].map((name) => values.get(name)).find((found) => found != null);
    if (value != null && value !== '') row[field] = typeof value === 'string' ? value : JSON.stringify(value);
  }
  return row;
}

function normalName(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]/g, '');
}
