// A moment on a page: how far away it is, and on a closer look which it is.
import { html } from 'ghtml';
import { formatInstant, formatRelative } from './format.ts';

/** `in 6 days`, with the moment itself for machines and for a pointer that rests on it. */
export function relativeTime(time: Date, now: Date): string {
  return html`<time datetime="${time.toISOString()}" title="${formatInstant(time)}">${formatRelative(time, now)}</time>`;
}
