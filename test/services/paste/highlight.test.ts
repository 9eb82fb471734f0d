// Highlighting with its real threads: what it colours, what it leaves plain, what it does once.
import { afterAll, describe, expect, it } from 'vitest';
import {
  createHighlighter,
  type HighlighterOptions,
} from '../../../src/services/paste/highlight/highlighter.ts';
import { createKeptOnce } from '../../../src/services/paste/highlight/kept-once.ts';
import { tokenKinds } from '../../../src/services/paste/highlight/token-kinds.ts';
import { tokenize } from '../../../src/services/paste/highlight/tokenize.ts';
import { tokenKind, tokenStart } from '../../../src/services/paste/highlight/tokens.ts';
import { languages } from '../../../src/services/paste/languages.ts';
import { codeOf, textContentOf } from '../../support/parse-html.ts';

// Other tests take the processor too: patience is tested by itself.
const shared = createHighlighter({ patienceMs: 20_000 });
afterAll(() => shared.close());

const utf8 = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

async function withHighlighter<Result>(
  options: Partial<HighlighterOptions>,
  use: (highlighter: ReturnType<typeof createHighlighter>) => Promise<Result>,
): Promise<Result> {
  const highlighter = createHighlighter({ patienceMs: 20_000, ...options });
  try {
    return await use(highlighter);
  } finally {
    await highlighter.close();
  }
}

/** Content and the kinds of its tokens: `['keyword', 'const']`. */
async function kindsOf(content: string, language: string): Promise<Array<[string, string]>> {
  const result = await tokenize({ content, language, timeLimitMs: 10_000, lineLengthLimit: 5_000 });
  if (!('tokens' in result)) throw new Error(result.untokenized);
  return [...result.tokens]
    .map((token, index): [string, string] => {
      const next = result.tokens[index + 1];
      const end = next === undefined ? content.length : tokenStart(next);
      return [tokenKinds[tokenKind(token)] ?? '', content.slice(tokenStart(token), end)];
    })
    .filter(([kind]) => kind !== 'text');
}

describe('tokens', () => {
  it('tell the kinds of a program apart', async () => {
    expect(await kindsOf('const a: Foo = f("x", 1) // why', 'typescript')).toEqual([
      ['keyword', 'const'],
      ['constant', 'a'],
      ['punctuation', ':'],
      ['type', 'Foo'],
      ['punctuation', '='],
      ['function', 'f'],
      ['punctuation', '('],
      ['string', '"x"'],
      ['punctuation', ','],
      ['number', '1'],
      ['punctuation', ')'],
      ['comment', '// why'],
    ]);
  });

  it('tell properties from values in JSON, and lines of a diff apart', async () => {
    expect(await kindsOf('{"a": true}', 'json')).toContainEqual(['property', '"a"']);
    const diff = await kindsOf('-old\n+new\n', 'diff');
    expect(diff).toEqual([
      ['deleted', '-old'],
      ['inserted', '+new'],
    ]);
  });

  it('colour the languages that a document embeds', async () => {
    expect(await kindsOf('```python\nimport os\n```\n', 'markdown')).toContainEqual(['keyword', 'import']);
  });

  it('never cross a line, whatever its end', async () => {
    const content = '/* a\r\nb\n*/';
    const kinds = await kindsOf(content, 'typescript');
    expect(kinds).toEqual([
      ['comment', '/* a'],
      ['comment', 'b'],
      ['comment', '*/'],
    ]);
  });

  it('exist for every supported language', async () => {
    for (const { id } of languages().slice(1)) {
      const result = await tokenize({
        content: 'a "b" 1\n',
        language: id,
        timeLimitMs: 10_000,
        lineLengthLimit: 100,
      });
      expect(result, id).toHaveProperty('tokens');
    }
  }, 60_000);
});

describe('a highlighter', () => {
  it('renders content with classes for a page', async () => {
    const content = 'const a = "<b>"\n';
    const { html, ...facts } = await shared.renderContentHtml({ content, language: 'typescript' });
    expect(facts).toEqual({ highlighted: true, lineCount: 1, layout: 'anchored' });
    expect(utf8(html)).toContain('<span class="t-keyword">const</span>');
    expect(textContentOf(codeOf(utf8(html)))).toBe(content);
  });

  it('renders self-contained markup, and the same as JSON', async () => {
    const request = { content: 'print("é\\n")', language: 'python', key: 'inline' };
    const html = utf8((await shared.renderInlineHtml(request)).html);
    expect(html).toMatch(/^<pre style="[^"]+"><code>.*<span style="color:#[0-9a-f]{6}">.*<\/code><\/pre>$/s);
    expect(JSON.parse(utf8((await shared.renderInlineJson(request)).html))).toBe(html);
  });

  it('renders long contents in a thread just as short ones in place', async () => {
    const content = 'let a = `é <😀>`;\r\n'.repeat(3_000);
    const request = { content, language: 'javascript', lines: { from: 2, to: 3 } };
    const [inThread, inPlace] = await Promise.all([
      withHighlighter({ inPlaceLength: 0 }, (highlighter) => highlighter.renderContentHtml(request)),
      withHighlighter({ inPlaceLength: content.length }, (highlighter) =>
        highlighter.renderContentHtml(request),
      ),
    ]);
    expect(inThread.highlighted).toBe(true);
    expect(utf8(inThread.html)).toBe(utf8(inPlace.html));
  });

  it('escapes text of any length', async () => {
    const content = '<'.repeat(100_000);
    expect(utf8(await shared.renderText(content))).toBe('&lt;'.repeat(100_000));
    expect(utf8(await shared.renderText('<'))).toBe('&lt;');
  });
});

describe('what is shown plain', () => {
  it.each([
    ['plain text', { content: 'const a', language: 'plaintext' }, {}, 'plain-text'],
    [
      'more bytes than the bound',
      { content: 'é'.repeat(6), language: 'typescript' },
      { maxBytes: 11 },
      'too-large',
    ],
    [
      'a line above the bound',
      { content: `a\n${'a'.repeat(5_001)}`, language: 'typescript' },
      {},
      'line-too-long',
    ],
    ['a language that is none', { content: 'a', language: 'klingon' }, {}, 'unknown-language'],
    [
      'content beyond the time',
      { content: 'let a = 1\n'.repeat(30_000), language: 'typescript' },
      { timeLimitMs: 5 },
      'too-slow',
    ],
  ])('is %s', async (_, request, options, plain) => {
    const { html, ...facts } = await withHighlighter(options, (highlighter) =>
      highlighter.renderContentHtml(request),
    );
    expect(facts).toMatchObject({ highlighted: false, plain });
    expect(utf8(html)).not.toContain('class="t-');
    expect(textContentOf(codeOf(utf8(html)))).toBe(request.content);
  });

  it('is content that no deadline can interrupt: its thread is killed, and the next content gets a new one', async () => {
    await withHighlighter(
      { timeLimitMs: 1_000, killAfterMs: 1_500, patienceMs: 10_000 },
      async (highlighter) => {
        // One regular expression of this grammar backtracks over such a line for 20 s and more.
        const content = 'a '.repeat(2_400);
        const killed = await highlighter.renderContentHtml({ content, language: 'ahk' });
        expect(killed).toMatchObject({ highlighted: false, plain: 'too-slow' });
        expect(textContentOf(codeOf(utf8(killed.html)))).toBe(content);
        const next = await highlighter.renderContentHtml({ content: 'let a', language: 'typescript' });
        expect(next.highlighted).toBe(true);
      },
    );
  }, 15_000);

  it('is what comes when too many wait, and it is not remembered as plain', async () => {
    await withHighlighter({ maxQueue: 1 }, async (highlighter) => {
      const ask = (key: string) =>
        highlighter.renderContentHtml({ content: `let ${key}`, language: 'typescript', key });
      const answers = await Promise.all([ask('a'), ask('b'), ask('c')]);
      expect(answers.map(({ plain }) => plain)).toEqual([undefined, undefined, 'busy']);
      expect((await ask('c')).highlighted).toBe(true);
    });
  });

  it('is everything after closing', async () => {
    const highlighter = createHighlighter();
    await highlighter.close();
    const answer = await highlighter.renderContentHtml({ content: 'let a', language: 'typescript' });
    expect(answer).toMatchObject({ highlighted: false, plain: 'busy' });
  });
});

describe('what is kept', () => {
  it('is one run for all who ask for a key, at once or later', async () => {
    const request = { content: 'let a = 1', language: 'typescript', key: 'same' };
    const [first, second] = await Promise.all([
      shared.renderContentHtml(request),
      shared.renderContentHtml(request),
    ]);
    const third = await shared.renderContentHtml(request);
    expect(second.html).toBe(first.html);
    expect(third.html).toBe(first.html);
  });

  it('serves every range of lines', async () => {
    const request = { content: 'a\nb\nc', language: 'plaintext', key: 'ranges' };
    const plain = await shared.renderContentHtml(request);
    const marked = await shared.renderContentHtml({ ...request, lines: { from: 2, to: 2 } });
    const unmarked = await shared.renderContentHtml(request);
    expect(utf8(marked.html)).toMatch(/<mark[^>]*><span class="line"><a id="L2"/);
    expect(unmarked.html).toBe(plain.html);
  });

  it('is gone when it is to be forgotten', async () => {
    const request = { content: 'let a = 1', language: 'typescript', key: 'forgotten' };
    const before = await shared.renderContentHtml(request);
    shared.forget('forgotten');
    const after = await shared.renderContentHtml(request);
    expect(after.html).not.toBe(before.html);
    expect(after.html).toEqual(before.html);
  });

  it('makes a value once, though many ask while it is made', async () => {
    let made = 0;
    const kept = createKeptOnce<{ size: number }>(
      100,
      ({ size }) => size,
      () => true,
    );
    const make = async () => {
      made += 1;
      await Promise.resolve();
      return { size: 10 };
    };
    await Promise.all(Array.from({ length: 50 }, () => kept.get('a', make)));
    await kept.get('a', make);
    expect(made).toBe(1);
  });

  it('does not keep what failed, what is not lasting, or what was forgotten while it was made', async () => {
    let made = 0;
    const kept = createKeptOnce<{ lasting: boolean }>(
      100,
      () => 1,
      ({ lasting }) => lasting,
    );
    const make = (lasting: boolean) => async () => {
      made += 1;
      await Promise.resolve();
      return { lasting };
    };
    await expect(kept.get('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await kept.get('a', make(false));
    const underWay = kept.get('a', make(true));
    kept.forget('a');
    await underWay;
    await kept.get('a', make(true));
    await kept.get('a', make(true));
    expect(made).toBe(3);
  });
});

describe('a queue of slow contents', () => {
  // A hundred thousand lines take any grammar longer than the patience of these tests.
  const slow = (index: number) => `// ${index}\n${'const a = { b: [1, "2", /3/] };\n'.repeat(14_000)}`;

  it('keeps nobody waiting beyond the patience, and small ones not at all', async () => {
    await withHighlighter({ patienceMs: 3_000, timeLimitMs: 4_000 }, async (highlighter) => {
      const startedAt = performance.now();
      const many = Array.from({ length: 6 }, (_, index) =>
        highlighter.renderContentHtml({ content: slow(index), language: 'typescript', key: `slow${index}` }),
      );
      const small = await highlighter.renderContentHtml({ content: 'let a = 1', language: 'javascript' });
      expect(small.highlighted).toBe(true);
      const shown = await Promise.all(many);
      expect(shown.at(-1)).toMatchObject({ highlighted: false, plain: 'busy' });
      // Far below the seconds that the queue takes; generous, since other tests run beside this one.
      expect(performance.now() - startedAt).toBeLessThan(9_000);
    });
  });

  it('gives the colours to whoever comes when they are there', async () => {
    await withHighlighter({ patienceMs: 1, timeLimitMs: 20_000 }, async (highlighter) => {
      const request = { content: 'const a = 1;\n'.repeat(500), language: 'typescript', key: 'patient' };
      expect(await highlighter.renderContentHtml(request)).toMatchObject({ plain: 'busy' });
      await expect
        .poll(async () => (await highlighter.renderContentHtml(request)).highlighted, { timeout: 15_000 })
        .toBe(true);
    });
  });
});
