// Highlighting as the rest of the program sees it: content and language in, finished UTF-8 markup out.
// Two steps, each done once for a paste: tokens (slow, bounded, may fall back to plain), then a rendering.
import { createKeptOnce } from './kept-once.ts';
import type { LineRange } from './line-range.ts';
import { markLines } from './mark-lines.ts';
import type { Layout, Rendering, RenderingForm } from './render.ts';
import { createRenderer, type RendererOptions } from './renderer.ts';
import { createTokenizer, type PlainReason, type Tokenized, type TokenizerOptions } from './tokenizer.ts';

interface HighlightRequest {
  content: string;
  /** A supported language id. */
  language: string;
  /**
   * Under which results are kept and concurrent requests share one run. It must name this very content and
   * language: an id that can be given again needs its creation time beside it. Without a key nothing is kept.
   */
  key?: string | undefined;
}

interface Highlighted {
  /** UTF-8 markup. Shared with the cache: not to be written to or transferred. */
  html: Uint8Array<ArrayBuffer>;
  highlighted: boolean;
  /** Why it is plain, where it is. */
  plain?: PlainReason;
  lineCount: number;
  /** `compact` pages have no anchor for each line. */
  layout: Layout;
}

export interface Highlighter {
  /** Numbered lines with classes, for our own pages; `lines` marks a range. */
  renderContentHtml(request: HighlightRequest & { lines?: LineRange | undefined }): Promise<Highlighted>;
  /** One self-contained `<pre>` with its colours in it: the API's `highlightedHtml`. */
  renderInlineHtml(request: HighlightRequest): Promise<Highlighted>;
  /** The same as a JSON string literal, quotes included, to be put into a JSON body as it is. */
  renderInlineJson(request: HighlightRequest): Promise<Highlighted>;
  /** Escaped text for a `<textarea>`, never kept. */
  renderText(content: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Drops what is kept under a key: the paste is gone. */
  forget(key: string): void;
  /** Ends the threads; requests that come later are answered plain, long ones are refused. */
  close(): Promise<void>;
}

export interface HighlighterOptions extends TokenizerOptions, RendererOptions {
  /** A reader waits this long for colours, queue and all; then the text is shown plain, and the next one may find them. */
  patienceMs: number;
  /** Tokens and renderings kept in memory. */
  cacheBytes: number;
}

const defaults: HighlighterOptions = {
  patienceMs: 1_500,
  smallLength: 16 * 1024,
  idleTimeoutMs: 60_000,
  maxQueue: 32,
  maxBytes: 512 * 1024,
  maxLineLength: 5_000,
  timeLimitMs: 2_000,
  killAfterMs: 1_000,
  inPlaceLength: 32 * 1024,
  cacheBytes: 64 * 1024 * 1024,
};

const keptForms = ['page', 'inline', 'inline-json'] as const satisfies readonly RenderingForm[];

interface Finished {
  rendering: Rendering;
  plain?: PlainReason;
}

/** Makes a highlighter; starts no thread before one is needed. */
export function createHighlighter(overrides: Partial<HighlighterOptions> = {}): Highlighter {
  const options = { ...defaults, ...overrides };
  const tokenizer = createTokenizer(options);
  const renderer = createRenderer(options);
  const tokens = createKeptOnce<Tokenized>(options.cacheBytes / 4, tokenizedBytes, (tokenized) =>
    isLasting('plain' in tokenized ? tokenized.plain : undefined),
  );
  const renderings = createKeptOnce<Finished>((options.cacheBytes * 3) / 4, finishedBytes, ({ plain }) =>
    isLasting(plain),
  );

  async function finish(request: HighlightRequest, form: RenderingForm): Promise<Finished> {
    const { content, language, key } = request;
    const tokenized = await withinTime(
      tokens.get(key, () => tokenizer.tokenize(content, language)),
      options.patienceMs,
    );
    const plain = 'plain' in tokenized ? tokenized.plain : undefined;
    const rendering = await renderer.render({
      content,
      form,
      tokens: 'tokens' in tokenized ? tokenized.tokens : undefined,
    });
    return plain === undefined ? { rendering } : { rendering, plain };
  }

  async function highlight(request: HighlightRequest, form: RenderingForm, lines?: LineRange) {
    const key = request.key === undefined ? undefined : keyOf(form, request.key);
    const finished = await renderings.get(key, () => finish(request, form));
    return answer(finished, lines);
  }

  return {
    renderContentHtml: (request) => highlight(request, 'page', request.lines),
    renderInlineHtml: (request) => highlight(request, 'inline'),
    renderInlineJson: (request) => highlight(request, 'inline-json'),
    renderText: async (content) => (await renderer.render({ content, form: 'text' })).bytes,

    forget(key) {
      tokens.forget(key);
      for (const form of keptForms) renderings.forget(keyOf(form, key));
    },

    async close() {
      await Promise.all([tokenizer.close(), renderer.close()]);
    },
  };
}

/** What is not there in time goes on by itself and is kept for the next reader. */
function withinTime(tokenized: Promise<Tokenized>, patienceMs: number): Promise<Tokenized> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Tokenized>((resolve) => {
    timer = setTimeout(resolve, patienceMs, { plain: 'busy' });
  });
  return Promise.race([tokenized, late]).finally(() => clearTimeout(timer));
}

function answer({ rendering, plain }: Finished, lines: LineRange | undefined): Highlighted {
  const { lineCount, layout } = rendering;
  const html = lines === undefined ? rendering.bytes : markLines(rendering, lines);
  const highlighted = plain === undefined;
  return highlighted
    ? { html, highlighted, lineCount, layout }
    : { html, highlighted, plain, lineCount, layout };
}

function keyOf(form: RenderingForm, key: string): string {
  return `${form}:${key}`;
}

/** Whether another attempt would end alike. A killed thread counts, so that a hostile paste is tried once. */
function isLasting(plain: PlainReason | undefined): boolean {
  return plain !== 'busy';
}

function tokenizedBytes(tokenized: Tokenized): number {
  return 64 + ('tokens' in tokenized ? tokenized.tokens.byteLength : 0);
}

function finishedBytes({ rendering }: Finished): number {
  return 64 + rendering.bytes.byteLength + rendering.lineStarts.byteLength;
}
