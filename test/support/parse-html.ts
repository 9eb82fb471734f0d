// Just enough of an HTML parser to see what text a browser would find in markup of ours.

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/** What a parser hands on of its input stream: no carriage return survives unless by reference. */
function preprocess(html: string): string {
  return html.replace(/\r\n?/g, '\n');
}

/** The textContent of markup without comments, scripts or attributes that contain `>`. */
export function textContentOf(html: string): string {
  return preprocess(html)
    .replace(/<[^>]*>/g, '')
    .replace(/&(?:#(\d+)|(\w+));/g, (whole, code: string | undefined, name: string | undefined) =>
      code === undefined ? (named[name ?? ''] ?? whole) : String.fromCodePoint(Number(code)),
    );
}

/** The part between the first `<code>` and the last `</code>`. */
export function codeOf(html: string): string {
  return html.slice(html.indexOf('<code>') + '<code>'.length, html.lastIndexOf('</code>'));
}
