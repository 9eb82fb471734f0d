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

/** What is understood of a row. */
export const BULK_FIELDS = [
  'shortCode',
  'originalUrl',
  'createdAt',
  'expiresAt',
  'clickCount',
  'hasPassword',
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
  shortCode: ['shortcode', 'keyword', 'source', 'code', 'slug'],
  originalUrl: ['originalurl', 'longurl', 'url', 'target'],
  createdAt: ['createdat', 'datecreated', 'timestamp'],
  expiresAt: ['expiresat', 'meta.validuntil', 'validuntil'],
  clickCount: ['clickcount', 'clicks', 'visitssummary.total', 'visitscount', 'visits', 'hits'],
  hasPassword: ['haspassword'],
  passwordHash: ['passwordhash'],
  deleteTokenHash: ['deletetokenhash'],
  validSince: ['meta.validsince', 'validsince'],
  maxVisits: ['meta.maxvisits', 'maxvisits'],
};

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

/** The row that an object of JSON is; members of objects in it count as `meta.validUntil`. */
export function rowOfObject(object: Record<string, unknown>): BulkRow {
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(object)) {
    if (typeof value !== 'object' || value === null) values.set(normalName(name), value);
    else for (const [inner, one] of Object.entries(value)) values.set(normalName(`${name}.${inner}`), one);
  }
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
