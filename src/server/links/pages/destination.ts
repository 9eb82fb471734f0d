// Where a link leads, written so that the part that decides it, the host, cannot be overlooked.
import { html } from 'ghtml';

/** The host a link leads to, as a browser would go there; undefined for what no browser follows as a web address. */
export function hostOf(url: string): string | undefined {
  return parseWebUrl(url)?.host;
}

/** A link to the destination, its host emphasised; text alone where it is no web address. */
export function destinationLink(url: string): string {
  const parsed = parseWebUrl(url);
  if (parsed === null) return html`<span class="destination">${url}</span>`;
  const { href, protocol, host, pathname, search, hash } = parsed;
  // A lone slash says nothing, and the parser adds it to every bare host.
  const rest = `${pathname}${search}${hash}`.replace(/^\/$/, '');
  return html`<a class="destination" href="${href}" rel="noopener noreferrer nofollow">${protocol}//<strong>${host}</strong>${rest}</a>`;
}

function parseWebUrl(url: string): URL | null {
  const parsed = URL.parse(url);
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed : null;
}
