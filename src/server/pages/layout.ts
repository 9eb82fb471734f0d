// What every page of every service has around its own part.
import { html } from 'ghtml';
import { icon } from './icons.ts';

/** The address of an asset by its name, e.g. `base.css` to `/assets/base.css?v=3f9c…`. */
export type AssetUrl = (name: string) => string;

/** A page around content that is streamed as bytes: send `head`, the bytes, `tail`. */
export interface PageParts {
  head: string;
  tail: string;
}

/** A service as its pages present it. */
export interface Site<Section extends string> {
  name: string;
  /** Lines of the brand's mark, on a square of 32 by 32: the `d` of a path. */
  brandLines: string;
  navigation: ReadonlyArray<{ id: Section; href: string; text: string }>;
  footer: string;
  /** Style sheets and scripts that all its pages load, after those of every service. */
  styles: readonly string[];
  scripts: readonly string[];
}

/** One page; `PageAsset` are the style sheets and scripts of one kind of page. */
export interface LayoutOptions<Section extends string, PageAsset extends string> {
  assets: AssetUrl;
  /** Of the document; the service's name follows it. */
  title: string;
  /** Which link of the navigation is this page's own. */
  current?: Section;
  /** `fill` gives the page the height of the window; the others say how wide its content may grow. */
  body?: 'fill' | 'wide' | 'medium' | 'narrow';
  styles?: readonly PageAsset[];
  scripts?: readonly PageAsset[];
}

export interface SiteLayout<Section extends string, PageAsset extends string> {
  /** Everything before and after the content of `<main>`. */
  layoutParts(options: LayoutOptions<Section, PageAsset>): PageParts;
  /** A whole page; `main` is finished HTML. */
  layout(options: LayoutOptions<Section, PageAsset>, main: string): string;
}

/** The layout of a service's pages. */
export function layoutOf<Section extends string, PageAsset extends string = never>(
  site: Site<Section>,
): SiteLayout<Section, PageAsset> {
  const layoutParts = (options: LayoutOptions<Section, PageAsset>) => ({
    head: headOf(site, options),
    tail: tailOf(site),
  });
  return {
    layoutParts,
    layout: (options, main) => {
      const { head, tail } = layoutParts(options);
      return head + main + tail;
    },
  };
}

function headOf<Section extends string, PageAsset extends string>(
  site: Site<Section>,
  options: LayoutOptions<Section, PageAsset>,
): string {
  const { assets, title, current, body = 'narrow', styles = [], scripts = [] } = options;
  const styleSheets = ['base.css', 'controls.css', 'cards.css', ...site.styles, ...styles].map(
    (name) => html`<link rel="stylesheet" href="${assets(name)}">
`,
  );
  const modules = ['base.js', ...site.scripts, ...scripts].map(
    (name) => html`<script src="${assets(name)}" type="module"></script>
`,
  );
  const links = site.navigation.map(
    ({ id, href, text }) =>
      html`<a href="${href}" !${id === current ? 'aria-current="page"' : ''}>${text}</a>`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title} · ${site.name}</title>
<link rel="icon" href="${assets('favicon.svg')}" type="image/svg+xml">
!${styleSheets}<script src="${assets('theme.js')}"></script>
!${modules}</head>
<body class="${body}">
<a class="skip" href="#main">Skip to content</a>
<header class="site-header">
<a class="brand" href="/"><svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" focusable="false"><rect class="brand-back" width="32" height="32" rx="8"/><path class="brand-lines" d="${site.brandLines}"/></svg>${site.name}</a>
<nav aria-label="Site">!${links}</nav>
<button type="button" class="quiet icon-only" data-theme-switch hidden>!${icon('theme')}<span class="visually-hidden">Theme</span></button>
</header>
<main id="main" tabindex="-1">
`;
}

function tailOf({ footer }: { footer: string }): string {
  return html`
</main>
<footer class="site-footer"><p>${footer}</p></footer>
<div class="toast" role="status" aria-live="polite" data-toast></div>
</body>
</html>
`;
}
