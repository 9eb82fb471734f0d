// A paste, shown: its facts, what can be done with it, and around its content.
import { html } from 'ghtml';
import { formatBytes, formatCount, formatQuantity } from '../../pages/format.ts';
import { icon } from '../../pages/icons.ts';
import { relativeTime } from '../../pages/relative-time.ts';
import { type AssetUrl, layoutParts, type PageParts } from './layout.ts';

export interface ViewPageData {
  assets: AssetUrl;
  pasteId: string;
  title: string | null;
  language: string;
  languageName: string;
  createdAt: Date;
  expiresAt: Date;
  /** Includes this view. */
  viewCount: number;
  sizeBytes: number;
  burnAfterRead: boolean;
  /** Shown after its password was given: links that would ask for it again are left out. */
  hasPassword: boolean;
  /** From the highlighter's answer. */
  lineCount: number;
  layout: 'anchored' | 'compact';
  /** Why the content is not highlighted, if it could have been. */
  plain?: string | undefined;
  /** What `?lines=` said, to be shown in its field. */
  lines?: string | undefined;
  now: Date;
}

/** The page around the content; send `head`, the bytes of `renderContentHtml`, `tail`. */
export function viewPage(data: ViewPageData): PageParts {
  const title = data.title ?? 'Untitled paste';
  const { head, tail } = layoutParts({
    assets: data.assets,
    title,
    body: 'wide',
    styles: ['viewer.css'],
    scripts: ['viewer.js'],
  });
  const start = html`<article class="paste" data-paste="${data.pasteId}" data-language="${data.language}" data-lines="${data.lineCount}">
<header class="paste-header">
<h1>${title}</h1>
!${facts(data)}
</header>
!${notices(data)}
<div class="frame">
!${toolbar(data)}
`;
  return { head: head + start, tail: `\n</div>\n</article>${tail}` };
}

function facts(data: ViewPageData): string {
  const { createdAt, expiresAt, now, burnAfterRead } = data;
  const expiry = burnAfterRead
    ? '<li class="warm">Deleted now that you see it</li>'
    : html`<li>Expires !${relativeTime(expiresAt, now)}</li>`;
  return html`<ul class="facts-line" aria-label="About this paste">
<li class="badge">${data.languageName}</li>
<li>${formatQuantity(data.lineCount, 'line')}</li>
<li>${formatBytes(data.sizeBytes)}</li>
<li>${formatQuantity(data.viewCount, 'view')}</li>
<li>Created !${relativeTime(createdAt, now)}</li>
!${expiry}
</ul>`;
}

const plainReasons: Readonly<Record<string, string>> = {
  'too-large': 'it is large',
  'line-too-long': 'it has a very long line',
  'too-slow': 'highlighting it took too long',
  busy: 'the server is busy; reload to try again',
};

function notices({ burnAfterRead, layout, lineCount, plain }: ViewPageData): string {
  const found: string[] = [];
  if (burnAfterRead) {
    found.push(
      html`<p class="notice warning">!${icon('flame')}<span>This paste has just been deleted and can only be read here, now. Copy or download it before you close the page.</span></p>`,
    );
  }
  const reason = plain === undefined ? undefined : plainReasons[plain];
  if (reason !== undefined) found.push(html`<p class="notice">Shown without colours: ${reason}.</p>`);
  if (layout === 'compact') {
    found.push(
      html`<p class="notice">${formatCount(lineCount)} lines: shown without a link for each line. Lines can still be marked by number.</p>`,
    );
  }
  return found.join('\n');
}

function toolbar(data: ViewPageData): string {
  const { pasteId, burnAfterRead, hasPassword, lines } = data;
  // A protected or burned paste is in this page only: what would ask the server for it again is left out.
  const reachable = !burnAfterRead && !hasPassword;
  return html`<div class="toolbar">
<div class="tools">
<button type="button" class="tool" data-copy-content hidden>!${icon('copy')}<span>Copy</span></button>
!${reachable ? reachableTools(pasteId) : html`<button type="button" class="tool" data-download-content hidden>!${icon('download')}<span>Download</span></button>`}
<button type="button" class="tool" data-wrap-switch aria-pressed="false" hidden>!${icon('wrap')}<span>Wrap</span></button>
!${burnAfterRead ? '' : html`<a class="tool" href="/${pasteId}/delete">!${icon('trash')}<span>Delete</span></a>`}
</div>
<form class="lines-form" method="get" action="/${pasteId}" data-lines-form !${reachable ? '' : 'data-in-place hidden'}>
<label for="lines">Lines</label>
<input id="lines" name="lines" inputmode="text" autocomplete="off" pattern="[lL]?[0-9]+(-[lL]?[0-9]+)?" title="A line or a range, such as 3 or 3-7" placeholder="3-7" value="${lines ?? ''}">
<button type="submit" class="quiet">Mark</button>
</form>
</div>`;
}

function reachableTools(pasteId: string): string {
  return html`<a class="tool" href="/raw/${pasteId}">!${icon('raw')}<span>Raw</span></a>
<a class="tool" href="/raw/${pasteId}?download=1" download>!${icon('download')}<span>Download</span></a>
<a class="tool" href="/?from=${pasteId}">!${icon('fork')}<span>New from this</span></a>`;
}
