// Content and its tokens as markup. Pure, linear, and the same on the main thread (short contents) and in a worker.
import { escapeText } from './escape.ts';
import { inlinePalette, tokenKinds } from './token-kinds.ts';
import { type Tokens, tokenKind, tokenStart } from './tokens.ts';

/** Up to here each line is an element with an anchor; above, browsers grow slow and the layout is cheaper. */
const ANCHORED_LINES_LIMIT = 10_000;

/**
 * - `page`: classes, numbered lines; for our own pages and style sheet
 * - `inline`: one self-contained `<pre>` with its colours in it
 * - `inline-json`: the same as a JSON string literal, ready to be put into a JSON body
 * - `text`: escaped text without any element, for a `<textarea>`
 */
export type RenderingForm = 'page' | 'inline' | 'inline-json' | 'text';

export interface RenderRequest {
  content: string;
  form: RenderingForm;
  tokens?: Tokens | undefined;
}

export type Layout = 'anchored' | 'compact';

export interface Rendering {
  /** UTF-8. */
  bytes: Uint8Array<ArrayBuffer>;
  layout: Layout;
  lineCount: number;
  /** Form `page`: where each line starts in `bytes`, and where the last one ends. Otherwise empty. */
  lineStarts: Uint32Array<ArrayBuffer>;
}

type OpenTag = (kind: number) => string;

const encoder = new TextEncoder();

const classTags = tokenKinds.map((kind) => `<span class="t-${kind}">`);

const inlineTags = tokenKinds.map((kind) => {
  const weight = kind === 'strong' || kind === 'heading' ? ';font-weight:bold' : '';
  const slant = kind === 'emphasis' || kind === 'comment' ? ';font-style:italic' : '';
  return `<span style="color:${inlinePalette[kind]}${weight}${slant}">`;
});

const inlineOpen =
  `<pre style="margin:0;padding:1em;overflow:auto;background:${inlinePalette.background};` +
  `color:${inlinePalette.text};font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;` +
  'font-size:.875em;line-height:1.5;tab-size:4;text-align:left"><code>';

/** Renders content in one of the forms; without tokens it is plain. */
export function render(request: RenderRequest): Rendering {
  switch (request.form) {
    case 'page':
      return renderPage(request);
    case 'inline':
      return whole(renderInline(request), request.content);
    case 'inline-json':
      return whole(JSON.stringify(renderInline(request)), request.content);
    case 'text':
      return whole(escapeText(request.content), request.content);
  }
}

/** Lines as an editor numbers them, except that a final line break starts no further line. At least 1. */
export function countLines(content: string): number {
  let lineBreaks = 0;
  for (let at = content.indexOf('\n'); at !== -1; at = content.indexOf('\n', at + 1)) lineBreaks += 1;
  return Math.max(1, content.endsWith('\n') ? lineBreaks : lineBreaks + 1);
}

function whole(html: string, content: string): Rendering {
  const lineCount = countLines(content);
  return {
    bytes: encoder.encode(html),
    layout: layoutOf(lineCount),
    lineCount,
    lineStarts: new Uint32Array(0),
  };
}

function layoutOf(lineCount: number): Layout {
  return lineCount <= ANCHORED_LINES_LIMIT ? 'anchored' : 'compact';
}

function renderPage({ content, tokens }: RenderRequest): Rendering {
  const lineCount = countLines(content);
  const layout = layoutOf(lineCount);
  const open = openPage(layout, lineCount);
  const parts = [open];
  const lineStarts = new Uint32Array(lineCount + 1);
  const renderSlice = sliceRenderer(content, tokens, (kind) => classTags[kind] ?? '<span>');

  let position = encoder.encode(open).length;
  let start = 0;
  for (let line = 1; line <= lineCount; line += 1) {
    const newline = content.indexOf('\n', start);
    const end = newline === -1 ? content.length : newline + 1;
    const text = renderSlice(start, end);
    const html = layout === 'anchored' ? anchoredLine(line, text) : text;
    lineStarts[line - 1] = position;
    position += Buffer.byteLength(html);
    parts.push(html);
    start = end;
  }
  lineStarts[lineCount] = position;
  parts.push(layout === 'anchored' ? '</code></pre>' : '</code></pre></div>');
  return { bytes: encoder.encode(parts.join('')), layout, lineCount, lineStarts };
}

// The number is drawn by the style sheet, so that it is neither selected nor copied with the text. The anchors
// are out of the order of tabbing and of the accessibility tree: thousands of links would bury the page.
function anchoredLine(line: number, text: string): string {
  return `<span class="line"><a id="L${line}" href="#L${line}" tabindex="-1" aria-hidden="true"></a>${text}</span>`;
}

function openPage(layout: Layout, lineCount: number): string {
  const digits = `digits-${Math.max(2, String(lineCount).length)}`;
  const region = 'role="region" aria-label="Content" tabindex="0"';
  if (layout === 'anchored') return `<pre class="code anchored ${digits}" id="content" ${region}><code>`;
  const numbers = Array.from({ length: lineCount }, (_, index) => index + 1).join('\n');
  return `<div class="code compact ${digits}" id="content" ${region}><pre class="gutter" aria-hidden="true">${numbers}\n</pre><pre class="text"><code>`;
}

function renderInline({ content, tokens }: RenderRequest): string {
  const renderSlice = sliceRenderer(content, tokens, (kind) => inlineTags[kind] ?? '<span>');
  return `${inlineOpen}${renderSlice(0, content.length)}</code></pre>`;
}

/** A function that renders the next slice of the content; slices must follow each other without a gap. */
function sliceRenderer(content: string, tokens: Tokens | undefined, openTag: OpenTag) {
  if (tokens === undefined) return (start: number, end: number) => escapeText(content.slice(start, end));

  let index = 0;
  let kind = 0;
  return (start: number, end: number): string => {
    let html = '';
    let position = start;
    while (position < end) {
      let token = tokens[index];
      while (token !== undefined && tokenStart(token) <= position) {
        kind = tokenKind(token);
        index += 1;
        token = tokens[index];
      }
      const next = token === undefined ? end : Math.min(tokenStart(token), end);
      const text = escapeText(content.slice(position, next));
      html += kind === 0 ? text : `${openTag(kind)}${text}</span>`;
      position = next;
    }
    return html;
  };
}
