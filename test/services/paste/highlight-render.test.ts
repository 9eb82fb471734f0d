// Rendering, the pure part: whatever the content, a browser must find exactly it in the markup.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LineRange, parseLineRange } from '../../../src/services/paste/highlight/line-range.ts';
import { markLines } from '../../../src/services/paste/highlight/mark-lines.ts';
import { countLines, type RenderRequest, render } from '../../../src/services/paste/highlight/render.ts';
import { tokenKinds } from '../../../src/services/paste/highlight/token-kinds.ts';
import { packToken } from '../../../src/services/paste/highlight/tokens.ts';
import { codeOf, textContentOf } from '../../support/parse-html.ts';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function renderText(request: RenderRequest): string {
  return decoder.decode(render(request).bytes);
}

/** Hard text: markup, references, line ends of all kinds, control and astral characters; no NUL, no lone surrogate. */
const content = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\n',
        '\r\n',
        '\r',
        '<',
        '>',
        '&',
        '&amp;',
        '</code>',
        '"',
        "'",
        '\u0001',
        '\u0085',
        '\uFEFF',
        '😀',
      ),
      fc.string({ unit: 'binary' }),
    ),
    { minLength: 1 },
  )
  .map((parts) => parts.join('').replaceAll('\0', ''))
  .filter((text) => text !== '' && text.isWellFormed());

/** Content with tokens as the tokenizer makes them: in order, and none across a line break. */
const tokenized = fc
  .tuple(
    content,
    fc.array(fc.nat(), { maxLength: 20 }),
    fc.array(fc.nat(tokenKinds.length - 1), { minLength: 20, maxLength: 20 }),
  )
  .map(([text, positions, kinds]) => {
    const starts = positions
      .map((position) => position % text.length)
      .filter((at) => !splitsCharacter(text, at));
    const ends = [...text.matchAll(/\r?\n|$/g)].map(({ index }) => ({ at: index, kind: 0 }));
    const tokens = [...starts.map((at, index) => ({ at, kind: kinds[index] ?? 0 })), ...ends].sort(
      (a, b) => a.at - b.at,
    );
    return { content: text, tokens: Uint32Array.from(tokens, ({ at, kind }) => packToken(at, kind)) };
  });

function splitsCharacter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

describe('rendered content', () => {
  it('has exactly the content as its text, on a page', () => {
    fc.assert(
      fc.property(tokenized, ({ content, tokens }) => {
        expect(textContentOf(codeOf(renderText({ content, tokens, form: 'page' })))).toBe(content);
        expect(textContentOf(codeOf(renderText({ content, form: 'page' })))).toBe(content);
      }),
    );
  });

  it('has exactly the content as its text, inline and as JSON', () => {
    fc.assert(
      fc.property(tokenized, ({ content, tokens }) => {
        const inline = renderText({ content, tokens, form: 'inline' });
        expect(textContentOf(inline)).toBe(content);
        expect(JSON.parse(renderText({ content, tokens, form: 'inline-json' }))).toBe(inline);
      }),
    );
  });

  it('has no markup but spans, anchors and its frame', () => {
    fc.assert(
      fc.property(tokenized, ({ content, tokens }) => {
        const html = codeOf(renderText({ content, tokens, form: 'page' }));
        const rest = html.replace(
          /<span class="(line|t-[a-z]+)">|<\/span>|<a id="L\d+" href="#L\d+" tabindex="-1" aria-hidden="true"><\/a>/g,
          '',
        );
        expect(rest).not.toMatch(/[<>]/);
      }),
    );
  });

  it('keeps the content also above the number of lines that get anchors', () => {
    const long = 'a & b\r\n<i>\n'.repeat(6_000);
    const rendering = render({ content: long, form: 'page' });
    const html = decoder.decode(rendering.bytes);
    expect(rendering).toMatchObject({ layout: 'compact', lineCount: 12_000 });
    expect(textContentOf(codeOf(html))).toBe(long);
    expect(html).not.toContain('id="L1"');
  });

  it('carries no class inline and no style on a page', () => {
    const request = { content: 'let a', tokens: Uint32Array.of(packToken(0, 6), packToken(3, 0)) };
    expect(renderText({ ...request, form: 'inline' })).toMatch(
      /<span style="color:#[0-9a-f]{6}">let<\/span> a/,
    );
    expect(renderText({ ...request, form: 'inline' })).not.toContain('class=');
    expect(renderText({ ...request, form: 'page' })).toContain('<span class="t-keyword">let</span> a');
    expect(renderText({ ...request, form: 'page' })).not.toContain('style=');
  });

  it('escapes a bare text so that a textarea shows it', () => {
    expect(renderText({ content: '</textarea>&lt;\r', form: 'text' })).toBe('&lt;/textarea&gt;&amp;lt;&#13;');
  });
});

describe('lines', () => {
  it.each([
    ['', 1],
    ['a', 1],
    ['a\n', 1],
    ['\n', 1],
    ['a\nb', 2],
    ['a\n\n', 2],
    ['a\r\nb\r\n', 2],
  ])('of %j are %i', (text, count) => {
    expect(countLines(text)).toBe(count);
    const html = decoder.decode(render({ content: text, form: 'page' }).bytes);
    expect(html.match(/class="line"/g)).toHaveLength(count);
  });

  it('each have an anchor that works without a script', () => {
    const html = renderText({ content: 'a\nb', form: 'page' });
    expect(html).toContain('<a id="L1" href="#L1"');
    expect(html).toContain('<a id="L2" href="#L2"');
  });

  it.each<[string | undefined, LineRange | undefined]>([
    ['3-7', { from: 3, to: 7 }],
    ['7-3', { from: 3, to: 7 }],
    ['3', { from: 3, to: 3 }],
    ['L3-L7', { from: 3, to: 7 }],
    ['0', undefined],
    ['3-', undefined],
    ['-3', undefined],
    ['a', undefined],
    ['1e3', undefined],
    ['99999999', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('asked for as %j are %j', (text, range) => {
    expect(parseLineRange(text)).toEqual(range);
  });

  it('are marked as a whole, and only they', () => {
    fc.assert(
      fc.property(
        content,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 0, max: 5 }),
        (text, from, more) => {
          const rendering = render({ content: text, form: 'page' });
          const html = decoder.decode(markLines(rendering, { from, to: from + more }));
          expect(textContentOf(codeOf(html))).toBe(text);
          const inside = /<mark class="range" id="marked">(.*)<\/mark>/s.exec(html)?.[1];
          const lines = text.split(/(?<=\n)/);
          const expected = lines.slice(from - 1, from + more).join('');
          if (from > lines.length) expect(inside).toBeUndefined();
          else expect(textContentOf(inside ?? '')).toBe(expected);
        },
      ),
    );
  });

  it('are marked in the cheaper layout too', () => {
    const text = Array.from({ length: 10_001 }, (_, index) => `line ${index + 1} é`).join('\n');
    const html = decoder.decode(
      markLines(render({ content: text, form: 'page' }), { from: 9_999, to: 10_000 }),
    );
    const inside = /<mark class="range" id="marked">(.*)<\/mark>/s.exec(html)?.[1];
    expect(inside).toBe('line 9999 é\nline 10000 é\n');
  });
});
