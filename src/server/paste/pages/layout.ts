// What every page of the paste service has around its own part.
import { html } from 'ghtml';
import { icon } from './icons.ts';

/** The address of an asset by its name, e.g. `paste.css` to `/assets/paste.css?v=3f9c…`. */
export type AssetUrl = (name: string) => string;

/** Style sheets and scripts of one kind of page, beside those that all pages load. */
type PageAsset = 'editor.css' | 'editor.js' | 'viewer.css' | 'viewer.js';

/** A page around content that is streamed as bytes: send `head`, the bytes, `tail`. */
export interface PageParts {
  head: string;
  tail: string;
}

export interface LayoutOptions {
  assets: AssetUrl;
  /** Of the document; the service's name follows it. */
  title: string;
  /** Which link of the navigation is this page's own. */
  current?: 'new' | 'statistics';
  /** `fill` gives the page the height of the window, for the editor. */
  body?: 'fill' | 'wide' | 'narrow';
  styles?: readonly PageAsset[];
  scripts?: readonly PageAsset[];
}

const navigation = [
  { id: 'new', href: '/', text: 'New' },
  { id: 'statistics', href: '/stats', text: 'Statistics' },
  { id: 'api', href: '/api/docs', text: 'API' },
];

/** Everything before and after the content of `<main>`. */
export function layoutParts(options: LayoutOptions): PageParts {
  const { assets, title, current, body = 'narrow', styles = [], scripts = [] } = options;
  const styleSheets = ['base.css', 'paste.css', ...styles].map(
    (name) => html`<link rel="stylesheet" href="${assets(name)}">
`,
  );
  const modules = ['base.js', 'own-pastes.js', ...scripts].map(
    (name) => html`<script src="${assets(name)}" type="module"></script>
`,
  );
  const links = navigation.map(
    ({ id, href, text }) =>
      html`<a href="${href}" !${id === current ? 'aria-current="page"' : ''}>${text}</a>`,
  );
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title} · Paste</title>
<link rel="icon" href="${assets('favicon.svg')}" type="image/svg+xml">
!${styleSheets}<script src="${assets('theme.js')}"></script>
!${modules}</head>
<body class="${body}">
<a class="skip" href="#main">Skip to content</a>
<header class="site-header">
<a class="brand" href="/"><svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" focusable="false"><rect class="brand-back" width="32" height="32" rx="8"/><path class="brand-lines" d="M9 10h14M9 16h9M9 22h12"/></svg>Paste</a>
<nav aria-label="Site">!${links}</nav>
<button type="button" class="quiet icon-only" data-theme-switch hidden>!${icon('theme')}<span class="visually-hidden">Theme</span></button>
</header>
<main id="main" tabindex="-1">
`;
  const tail = html`
</main>
<footer class="site-footer"><p>Pastes are deleted when they expire. Do not paste what you may not share.</p></footer>
<div class="toast" role="status" aria-live="polite" data-toast></div>
</body>
</html>
`;
  return { head, tail };
}

/** A whole page; `main` is finished HTML. */
export function layout(options: LayoutOptions, main: string): string {
  const { head, tail } = layoutParts(options);
  return head + main + tail;
}
