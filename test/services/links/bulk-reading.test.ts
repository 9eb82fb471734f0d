// Reading files of links: what services write, and what a broken file says.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCsv } from '../../../src/services/links/bulk/export-links.ts';
import { readRows } from '../../../src/services/links/bulk/read-rows.ts';
import type { SourceRow } from '../../../src/services/links/bulk/source-row.ts';

/** Reads a text that comes in pieces of so many bytes. */
async function read(text: string | Buffer, pieceBytes = 7): Promise<SourceRow[]> {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let start = 0; start < bytes.length; start += pieceBytes)
      yield bytes.subarray(start, start + pieceBytes);
  }
  const rows: SourceRow[] = [];
  for await (const some of readRows(pieces())) rows.push(...some);
  return rows;
}

const link = { shortCode: 'abc', originalUrl: 'https://example.com/a,b' };

describe('understands', () => {
  test.each([
    [
      'our own CSV',
      'shortCode,originalUrl,createdAt,expiresAt,clickCount,passwordHash,deleteTokenHash\nabc,"https://example.com/a,b",,,7,,\n',
      { ...link, clickCount: '7' },
    ],
    ['a byte order mark and CRLF', '\ufeffshortCode,originalUrl\r\nabc,"https://example.com/a,b"\r\n', link],
    [
      'any case of headers, and blank lines',
      '\nSHORTCODE;OriginalURL\n\nabc;https://example.com/a,b\n\n',
      link,
    ],
    ['the last line without an end', 'code\turl\nabc\thttps://example.com/a,b', link],
    ['one column', 'url\nhttps://example.com/', { originalUrl: 'https://example.com/' }],
    [
      'the table of YOURLS, with line breaks in titles',
      'keyword,url,title,timestamp,ip,clicks\nabc,"https://example.com/a,b","A ""title""\nof two lines",2020-01-02 03:04:05,1.2.3.4,7\n',
      { ...link, createdAt: '2020-01-02 03:04:05', clickCount: '7' },
    ],
    [
      'the same as mysql --batch writes it',
      'keyword\turl\ttitle\ttimestamp\tip\tclicks\nabc\thttps://example.com/a,b\tSay "hello" twice\t2020-01-02 03:04:05\t1.2.3.4\t7\n',
      { ...link, createdAt: '2020-01-02 03:04:05', clickCount: '7' },
    ],
    [
      'what mysql --batch writes before tabs, line ends and backslashes, and where there is nothing',
      'keyword\turl\ttitle\ttimestamp\tip\tclicks\texpiresAt\nabc\thttps://example.com/a,b?\\\\\ta\\tb\\nc\tNULL\t1.2.3.4\t7\t\\N\n',
      { ...link, originalUrl: 'https://example.com/a,b?\\', clickCount: '7' },
    ],
    [
      'tabs with quotes around everything',
      '"keyword"\t"url"\t"title"\n"abc"\t"https://example.com/a,b"\t"A ""title""\nof two lines"\n',
      link,
    ],
    [
      'the table of Kutt',
      'id,address,target,password,banned,visit_count,expire_in,created_at\n1,abc,"https://example.com/a,b",,f,7,2030-01-01 00:00:00+00,2020-01-02 03:04:05.678+02\n',
      {
        ...link,
        banned: 'f',
        clickCount: '7',
        expiresAt: '2030-01-01 00:00:00+00',
        createdAt: '2020-01-02 03:04:05.678+02',
      },
    ],
    [
      'a page of the API of Kutt',
      JSON.stringify({
        total: 1,
        limit: 10,
        skip: 0,
        data: [
          {
            address: 'abc',
            target: 'https://example.com/a,b',
            link: 'https://s.test/abc',
            password: false,
            banned: false,
            visit_count: 7,
            expire_in: null,
            domain: null,
          },
        ],
      }),
      { ...link, password: 'false', banned: 'false', clickCount: '7' },
    ],
    [
      'the export plugin of YOURLS',
      'source,target,hits\r\n/abc/,"https://example.com/a,b",7\r\n',
      { ...link, shortCode: '/abc/', clickCount: '7' },
    ],
    [
      'the export of the web client of Shlink',
      'createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits\n2024-05-06T07:08:09+02:00,s.test,abc,https://s.test/abc,"https://example.com/a,b",T,a|b,7\n',
      { ...link, createdAt: '2024-05-06T07:08:09+02:00', clickCount: '7' },
    ],
    [
      'the CSV of the importer of Shlink',
      'Long URL;Tags;Domain;Short code;Title\nhttps://example.com/a,b;foo|bar;;abc;T\n',
      link,
    ],
    [
      'a JSON array',
      JSON.stringify([{ ...link, expiresAt: null, clickCount: 7 }], null, 2),
      { ...link, clickCount: '7' },
    ],
    ['one object a line', `${JSON.stringify(link)}\r\n\r\n`, link],
    ['objects as jq writes them', JSON.stringify(link, null, 2), link],
    [
      'a page of the REST API of Shlink',
      JSON.stringify({
        shortUrls: {
          data: [
            {
              shortCode: 'abc',
              shortUrl: 'https://s.test/abc',
              longUrl: 'https://example.com/a,b',
              dateCreated: '2024-05-06T07:08:09+00:00',
              visitsCount: 9,
              visitsSummary: { total: 7, nonBots: 5, bots: 2 },
              tags: [],
              meta: { validSince: null, validUntil: '2030-01-01T00:00:00+00:00', maxVisits: null },
            },
          ],
          pagination: { currentPage: 1, pagesCount: 1 },
        },
      }),
      {
        ...link,
        createdAt: '2024-05-06T07:08:09+00:00',
        expiresAt: '2030-01-01T00:00:00+00:00',
        clickCount: '7',
      },
    ],
  ])('%s', async (_what, text, fields) => {
    const rows = await read(text);
    expect(rows).toEqual([{ row: expect.any(Number), fields }]);
  });

  test('many objects in any arrangement, however the text is cut', async () => {
    const objects = [link, { originalUrl: 'https://example.com/}{]["\\"' }, { originalUrl: 'é😀' }];
    for (const text of [
      JSON.stringify(objects),
      JSON.stringify(objects, null, 1),
      objects.map((object) => JSON.stringify(object)).join('\n'),
      objects.map((object) => JSON.stringify(object)).join(''),
    ]) {
      for (const pieceBytes of [1, 2, 5, 1_000]) {
        expect((await read(text, pieceBytes)).map(({ row, fields }) => [row, fields])).toEqual(
          objects.map((object, index) => [index + 1, object]),
        );
      }
    }
  });
});

describe('says what is wrong', () => {
  test.each(['keyword,title\nabc,T\n', '\0\u0001', 'abc\n', '"url\n'])(
    'with a file without destinations: %j',
    async (text) => {
      await expect(read(text)).rejects.toMatchObject({ code: 'INPUT_INVALID', exit: 2 });
    },
  );

  test('of nothing', async () => {
    expect(await read('')).toEqual([]);
    expect(await read('\ufeff\n\n')).toEqual([]);
    expect(await read('url\n')).toEqual([]);
    expect(await read('[]')).toEqual([]);
  });

  test.each([
    [
      'a separator too many',
      'code,url\nabc,https://a.example/,x\nd,https://b.example/\n',
      [
        ['has 3 columns, the header has 2', 2],
        [undefined, 3],
      ],
    ],
    [
      'a quote that is not closed',
      'code,url\nabc,https://a.example/\nd,"https://b.example/\n',
      [
        [undefined, 2],
        ['begins with a quote that is never closed', 3],
      ],
    ],
    [
      'a line that is no JSON',
      '{"url":"https://a.example/"}\n{oops}\n{"url":"https://b.example/"}\n',
      [
        [undefined, 1],
        ['is not valid JSON', 2],
        [undefined, 3],
      ],
    ],
    [
      'a line that was cut',
      '{"url":"https://a.exa\n{"url":"https://b.example/"}\n',
      [
        ['is not valid JSON', 1],
        [undefined, 2],
      ],
    ],
    [
      'an object that was not ended',
      '{"url":"https://a.example/"\n{"url":"https://b.example/"}\n',
      [
        ['is not valid JSON', 1],
        [undefined, 2],
      ],
    ],
    [
      'what is no object',
      '[null, "text", 7, [], {"url":"https://b.example/"}]',
      [
        ['is no JSON object', 1],
        ['is no JSON object', 2],
        ['is no JSON object', 3],
        [undefined, 4],
      ],
    ],
    [
      'a list that was cut',
      '[{"url":"https://a.example/"},',
      [
        [undefined, 1],
        ['is missing: the file ends before its list does', 2],
      ],
    ],
  ])('with %s', async (_what, text, expected) => {
    expect((await read(text)).map(({ row, unreadable }) => [unreadable, row])).toEqual(expected);
  });

  const titles = (delimiter: string) =>
    [
      ['keyword', 'url', 'title', 'clicks'],
      ['one', 'https://a.example/1', 'T', '1'],
      ['two', 'https://a.example/2', '"Unclosed start', '2'],
      ['three', 'https://a.example/3', 'T', '3'],
      ['four', 'https://a.example/4', 'say "hi"', '4'],
      ['five', 'https://a.example/5', 'T', '5'],
    ]
      .map((values) => `${values.join(delimiter)}\n`)
      .join('');

  test('of nothing in a file with tabs whose titles begin with quotes', async () => {
    for (const pieceBytes of [7, 1_000]) {
      const rows = await read(titles('\t'), pieceBytes);
      expect(rows.map(({ fields, unreadable }) => [fields.shortCode, fields.clickCount, unreadable])).toEqual(
        [
          ['one', '1', undefined],
          ['two', '2', undefined],
          ['three', '3', undefined],
          ['four', '4', undefined],
          ['five', '5', undefined],
        ],
      );
    }
  });

  test.each([
    ['in front of a quote further down', titles(','), 3, 'the 2 lines behind it were'],
    [
      'before the destination',
      'title,url\n"Unclosed,https://a.example/1\nsay "hi",https://a.example/2\n',
      2,
      'the line behind it was',
    ],
  ])('with a quote that is not closed %s', async (_what, text, row, lines) => {
    const rows = await read(text);
    expect(rows.filter(({ unreadable }) => unreadable !== undefined)).toMatchObject([
      { row, unreadable: `has a quote that is not closed: ${lines} read as part of it` },
    ]);
  });

  test('of columns and members that mean nothing here, each once', async () => {
    const ignored: string[] = [];
    const readAll = async (text: string) => {
      ignored.length = 0;
      async function* bytes() {
        yield Buffer.from(text);
      }
      for await (const _ of readRows(bytes(), { onIgnored: (names) => ignored.push(...names) }));
      return ignored;
    };
    expect(await readAll('Short code;Long URL;Tags;Title\nabc;https://a.example/;x;T\n')).toEqual([
      'Tags',
      'Title',
    ]);
    const one = {
      url: 'https://a.example/',
      tags: ['x'],
      title: null,
      meta: { validUntil: null, from: 'y' },
    };
    expect(await readAll(JSON.stringify([one, one, { ...one, title: 'T' }]))).toEqual([
      'tags',
      'meta.from',
      'title',
    ]);
  });

  test('when a quote swallows the file, without holding all of it', async () => {
    const text = `code,url\nabc,"https://a.example/\n${'x,https://b.example/\n'.repeat(80_000)}`;
    const rows = await read(text, 65_536);
    expect(rows[0]).toMatchObject({ row: 2, unreadable: expect.stringContaining('1 MiB') });
  });
});

describe('comes back from CSV as it went in', () => {
  const odd = fc.constantFrom(
    '"',
    ',',
    ';',
    '\t',
    '\n',
    '\r',
    '\r\n',
    '=1+1',
    ' ',
    '\u2028',
    '\ufeff',
    "'",
    '""',
  );
  const value = fc
    .array(fc.oneof(odd, fc.string({ unit: 'grapheme' })), { maxLength: 6 })
    .map((parts) => parts.join(''))
    // An empty value is one that is not there.
    .filter((text) => text !== '');

  test('any text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ shortCode: value, originalUrl: value }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 40 }),
        async (rows, pieceBytes) => {
          const columns = ['shortCode', 'originalUrl'];
          const text = `${columns.join(',')}\n${toCsv(rows, columns)}`;
          expect((await read(text, pieceBytes)).map(({ fields }) => fields)).toEqual(rows);
        },
      ),
      { numRuns: 300 },
    );
  });
});
