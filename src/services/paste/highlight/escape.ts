// Text as HTML that an HTML parser turns back into exactly that text.

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  // A raw carriage return would become a line feed (HTML, "preprocessing the input stream").
  '\r': '&#13;',
  // Cannot be written in HTML at all; contents with it are refused before they are stored.
  '\0': '&#65533;',
};

const altered = /[&<>\r\0]/;
const everyAltered = /[&<>\r\0]/g;

/** Escapes text for element content; not for attributes (quotes stay) and not right after `<pre>` (a first newline would be lost). */
export function escapeText(text: string): string {
  return altered.test(text) ? text.replace(everyAltered, (character) => references[character] ?? '') : text;
}
