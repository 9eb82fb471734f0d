// Where a link may lead: one table of what must be refused, in every spelling a URL parser accepts, one of what must not.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { refuseDestination } from '../../../src/services/links/destination.ts';

const OWN_HOST = 'sho.rt';
const judge = (url: string) => refuseDestination(url, OWN_HOST);

const REFUSED: Record<string, string[]> = {
  'loopback, in every base and length': [
    'http://127.0.0.1',
    'http://127.0.0.1:8080/admin',
    'http://127.0.0.1.',
    'http://127.0.0.1../',
    'http://127.1',
    'http://127.1../',
    'http://127.0.1',
    'http://127.255.255.254',
    'http://2130706433',
    'http://017700000001',
    'http://0177.0.0.1',
    'http://0x7f000001',
    'http://0x7f.1',
    'http://0x7F.0.0.0x1',
    'http://0x7f.0x0.0x0.0x1.',
    'http://0000000177.0.0.01',
    'http://127.0.0.0x01',
    'http://%31%32%37.0.0.1',
    'http://127%2e0%2e0%2e1',
    'http://１２７.０.０.１',
    'http://127。0。0。1',
    'http://127．0｡0．1',
    'http://①②⑦.⓪.⓪.①',
    'http://[::1]',
    'http://[0:0:0:0:0:0:0:1]',
    'http://[0000:0000:0000:0000:0000:0000:0000:0001]:80/',
    'http://[::ffff:127.0.0.1]',
    'http://[::ffff:7f00:1]',
    'http://[0:0:0:0:0:ffff:7f00:0001]',
    'http://[::127.0.0.1]',
    'http://[::7f00:1]',
    'http://[::ffff:0:127.0.0.1]',
    'http://[64:ff9b::127.0.0.1]',
    'http://[64:ff9b::7f00:1]',
    'http://[64:ff9b:1::7f00:1]',
    'http://[2002:7f00:1::]',
    'http://[2001:0:7f00:1::]',
  ],
  'private networks': [
    'http://10.0.0.1',
    'http://10.255.255.255',
    'http://167772161',
    'http://012.0.0.1',
    'http://0xa.1',
    'http://172.16.0.1',
    'http://172.31.255.255',
    'http://192.168.0.1',
    'http://192.168.1',
    'http://0xc0a80001',
    'http://3232235521',
    'http://[::ffff:192.168.0.1]',
    'http://[::ffff:c0a8:1]',
    'http://[64:ff9b::a00:1]',
    'http://[2002:c0a8:1::1]',
    'http://[fc00::1]',
    'http://[fd12:3456:789a::1]',
  ],
  'link-local, the address of cloud metadata among them': [
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166',
    'http://0xA9FEA9FE',
    'http://0251.0376.0251.0376',
    'http://169.254.43518',
    'http://[::ffff:169.254.169.254]',
    'http://[fe80::1]',
    'http://[febf::1]',
    'http://[fec0::1]',
  ],
  'unspecified, broadcast, multicast': [
    'http://0.0.0.0',
    'http://0',
    'http://0x0',
    'http://00.1',
    'http://0.1.2.3',
    'http://[::]',
    'http://[0::0]',
    'http://255.255.255.255',
    'http://4294967295',
    'http://224.0.0.1',
    'http://239.255.255.250',
    'http://[ff02::1]',
    'http://[ff0e::1]',
  ],
  'reserved for other things': [
    'http://100.64.0.1',
    'http://100.127.255.255',
    'http://192.0.0.8',
    'http://192.0.2.1',
    'http://198.18.0.1',
    'http://198.19.255.255',
    'http://198.51.100.7',
    'http://203.0.113.9',
    'http://192.88.99.1',
    'http://240.0.0.1',
    'http://[2001:db8::1]',
    'http://[3fff::1]',
    'http://[100::1]',
    'http://[5f00::1]',
    'http://[4000::1]',
    'http://[2001:20::1]',
  ],
  'names of this machine and its network': [
    'http://localhost',
    'http://LOCALHOST:3000',
    'http://localhost.',
    'http://localhost../',
    'http://ｌｏｃａｌｈｏｓｔ',
    'http://%6cocalhost',
    'http://foo.localhost',
    'http://localhost.localdomain',
    'http://printer.local',
    'http://metadata.google.internal',
    'http://router.home.arpa',
    'http://intranet',
    'http://db.corp',
  ],
  'the service itself': ['http://sho.rt/abc', 'https://SHO.RT', 'http://sho.rt.:8080/x', 'http://ｓho.rt'],
  credentials: [
    'https://user:secret@example.com',
    'https://user@example.com',
    'http://@example.com',
    'http://:@example.com',
  ],
  'other schemes and no scheme': [
    'ftp://example.com',
    'javascript:alert(1)',
    'data:text/html,hello',
    'file:///etc/passwd',
    'mailto:someone@example.com',
    'example.com',
    '//example.com',
    'http:example.com',
    'http:/example.com',
    'httpx://example.com',
    '',
  ],
  'what a parser would drop or show in another order': [
    'https://exam ple.com',
    ' https://example.com',
    'https://example.com/a b',
    'https://example.com/\n',
    'https://exa\tmple.com',
    'https://example.com/\u0000',
    'https://example.com/\u0085',
    'https://example.com/\u00a0',
    'https://example.com/\u2028',
    'https://example.com/\u202egpj.exe',
    'https://example.com/\u007f',
  ],
  'no host, and hosts that are none': [
    'http://',
    'https:///',
    'http://.',
    'http://a..example.com',
    'http://.example.com',
    'http://[::1',
    'http://[::1%25eth0]/',
    'http://[fe80::1%eth0]/',
    'http://256.256.256.256',
    'http://1.2.3.4.5',
    'http://0x100000000',
    'http://example.com:99999',
    'http://exa<mple.com',
  ],
};

const ACCEPTED = [
  'https://example.com',
  'http://example.com/',
  'HTTPS://EXAMPLE.COM/Path',
  'https://example.com:8443/a?b=c#d',
  'https://sub.domain.example.co.uk/',
  'https://example.com./',
  'https://notsho.rt',
  'https://sub.sho.rt/',
  'https://user.example.com/@someone',
  'https://example.com/?next=http://127.0.0.1/',
  'https://example.com/#http://localhost',
  'https://localhost.example.com',
  'https://local.example.com',
  'https://internal.example.org',
  'https://mylocalhost.com',
  'https://127.0.0.1.nip.io',
  'https://10.example.com',
  'https://xn--mnchen-3ya.de/',
  'https://münchen.de/straße',
  'https://例え.jp/パス',
  'https://example.com/👩‍👩‍👧',
  'https://example.com/%20%00',
  "https://example.com/a;b,c!$&'()*+=:@",
  'http://8.8.8.8',
  'http://134744072',
  'http://1.1.1.1:8080/dns-query',
  'http://9.255.255.255',
  'http://11.0.0.1',
  'http://172.15.255.255',
  'http://172.32.0.1',
  'http://192.167.255.255',
  'http://100.128.0.1',
  'http://223.255.255.255',
  'https://[2606:4700:4700::1111]/',
  'https://[2a00:1450:4001:82b::200e]:443/',
];

describe('refused', () => {
  for (const [kind, urls] of Object.entries(REFUSED)) {
    test.each(urls.map((url) => [url]))(`${kind}: %j`, (url) => {
      expect(judge(url)).toBeTypeOf('string');
    });
  }

  test('the tables are as long as the issue asks', () => {
    const addresses = Object.entries(REFUSED)
      .filter(([kind]) => /^(loopback|private|link-local|unspecified|reserved)/.test(kind))
      .flatMap(([, urls]) => urls);
    expect(new Set(addresses).size).toBeGreaterThanOrEqual(80);
    expect(new Set(ACCEPTED).size).toBeGreaterThanOrEqual(30);
  });

  test('each says why', () => {
    expect(judge('http://0x7f.1')).toBe('must not lead to a private or reserved address');
    expect(judge('http://printer.local')).toBe('must not lead to a private or local host name');
    expect(judge('http://sho.rt/abc')).toBe('must not lead to this service itself');
    expect(judge('ftp://example.com')).toBe('must begin with http:// or https://');
    expect(judge('https://example.com/a b')).toBe('must not contain white space or control characters');
    expect(judge('https://user@example.com')).toBe('must not contain a user name or password');
    expect(judge('http://[::1')).toBe('is not a valid URL');
  });
});

describe('accepted', () => {
  test.each(ACCEPTED.map((url) => [url]))('%j', (url) => {
    expect(judge(url)).toBeUndefined();
  });
});

describe('length', () => {
  const urlOf = (length: number, filler = 'a') => {
    const start = 'https://example.com/';
    return start + filler.repeat(length - start.length);
  };

  test('2048 characters pass, one more does not', () => {
    expect(judge(urlOf(2048))).toBeUndefined();
    expect(judge(urlOf(2049))).toBe('must be at most 2048 characters long');
  });

  test('characters are code points', () => {
    // 1,500 units more than characters.
    expect(judge(urlOf(548) + '😀'.repeat(500) + 'a'.repeat(1_000))).toBeUndefined();
    expect(judge(urlOf(549) + '😀'.repeat(500) + 'a'.repeat(1_000))).toBe(
      'must be at most 2048 characters long',
    );
  });

  test('a Location of 8,000 characters passes, one that is longer does not', () => {
    // Each becomes twelve characters.
    expect(judge(urlOf(440) + '😀'.repeat(630))).toBeUndefined();
    expect(judge(urlOf(441) + '😀'.repeat(630))).toBe(
      'must be at most 8000 characters long when it is percent-encoded',
    );
  });
});

test('every IPv4 address is judged alike in decimal, hex, octal, mapped and dotted form', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffffff }), (number) => {
      const parts = [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255];
      const verdict = judge(`http://${parts.join('.')}/`);
      const spellings = [
        String(number),
        `0x${number.toString(16)}`,
        `0${number.toString(8)}`,
        parts.map((part) => `0x${part.toString(16)}`).join('.'),
        parts.map((part) => `0${part.toString(8)}`).join('.'),
        `${parts[0]}.${number & 0xffffff}`,
        `${parts.join('.')}.`,
      ];
      for (const spelling of spellings) expect(judge(`http://${spelling}/`)).toBe(verdict);
      expect(judge(`http://[::ffff:${parts.join('.')}]/`)).toBeTypeOf('string');
    }),
  );
});
