// A list of bars under its heading, as both pages of statistics show it.
import { html } from 'ghtml';
import { barList, type NamedCount } from './charts.ts';

/** A card of names by how often they came; `total` is what their shares are of. */
export function barCard(rows: readonly NamedCount[], options: { label: string; total: number }): string {
  return html`<section class="card">
<h2>${options.label}</h2>
!${barList(rows, options)}
</section>`;
}
