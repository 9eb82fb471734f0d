// Numbers that stand on their own, in tiles, and the bars beside numbers that are compared.
import { html } from 'ghtml';
import { formatCount } from './format.ts';

export interface Figure {
  label: string;
  value: number;
  /** What the number covers. */
  note: string;
}

/** Tiles of large numbers. */
export function figures(all: readonly Figure[]): string {
  const tiles = all.map(
    ({ label, value, note }) =>
      html`<div class="figure"><dt>${label}</dt><dd><span class="value">${formatCount(value)}</span> <span class="hint">${note}</span></dd></div>`,
  );
  return html`<dl class="figures">!${tiles}</dl>`;
}

/** A bar as long as `count` is of `most`, and never too short to be seen; the words are beside it. */
export function proportionBar(count: number, most: number): string {
  const length = Math.max(0.5, (count / most) * 100).toFixed(1);
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect width="${length}" height="10"/></svg>`;
}
