// A page that only says something: not found, too many requests, something broke.
import { html } from 'ghtml';

export interface StatusMessage {
  /** HTTP status, shown small. */
  status: number;
  title: string;
  /** What the reader can do about it. */
  hint: string;
  /** The way on. */
  action: { href: string; text: string };
}

/** The content of such a page. */
export function statusMessage({ status, title, hint, action }: StatusMessage): string {
  return html`<section class="card message">
<p class="status-code">${status}</p>
<h1>${title}</h1>
<p>${hint}</p>
<p class="actions"><a class="button primary" href="${action.href}">${action.text}</a></p>
</section>`;
}
