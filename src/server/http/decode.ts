// Bytes of a request body into plain data, or into the reason why not. Pure: runs on the event loop or in a worker.

export type Decoded = { value: unknown } | { problem: string; field: string };

/**
 * Decodes JSON (RFC 8259), refusing invalid UTF-8 and lone surrogates.
 *
 * @param fields - the only members wanted of a large object, small enough to be handed from thread to thread
 */
export function decodeJson(bytes: Uint8Array, fields?: readonly string[]): Decoded {
  const text = decodeUtf8(bytes);
  if (text === undefined) return { problem: 'is not valid UTF-8', field: 'body' };
  if (text.trim() === '') return { problem: 'is empty; a JSON object is required', field: 'body' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `is not valid JSON: ${whereJsonFails(error)}`, field: 'body' };
  }
  const field = findLoneSurrogate(value);
  return field === undefined
    ? { value: fields === undefined ? value : wantedOf(value, fields) }
    : { problem: 'contains a lone surrogate, which is not a character', field };
}

/** Decodes application/x-www-form-urlencoded; the first of equal names wins. */
export function decodeForm(bytes: Uint8Array): Decoded {
  const text = decodeUtf8(bytes);
  if (text === undefined) return { problem: 'is not valid UTF-8', field: 'body' };
  const value: Record<string, string> = {};
  const parameters = new URLSearchParams(text);
  if (replacementsIn(parameters) > (text.match(/\ufffd|%EF%BF%BD/gi)?.length ?? 0)) {
    return { problem: 'is not valid UTF-8', field: 'body' };
  }
  for (const [name, content] of parameters) {
    // Browsers send line ends of a text area as CR LF (HTML, form submission); people wrote LF.
    if (!Object.hasOwn(value, name)) value[name] = content.replaceAll('\r\n', '\n');
  }
  return { value };
}

/** How often a text holds U+FFFD, which a parser of forms puts in silence where bytes are no UTF-8. */
function replacementsIn(parameters: URLSearchParams): number {
  let count = 0;
  for (const pair of parameters) for (const text of pair) count += text.split('\ufffd').length - 1;
  return count;
}

const MOST_NODES = 20_000;

/** The wanted members of an object; one of too many parts comes back as an empty object, and is of a wrong type. */
function wantedOf(value: unknown, fields: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return isSmall(value) ? value : [];
  const members = fields
    .filter((field) => Object.hasOwn(value, field))
    .map((field) => [field, (value as Record<string, unknown>)[field]] as const);
  return Object.fromEntries(members.map(([field, member]) => [field, isSmall(member) ? member : {}]));
}

function isSmall(root: unknown): boolean {
  const pending = [{ value: root, depth: 0 }];
  let nodes = 0;
  for (let entry = pending.pop(); entry; entry = pending.pop()) {
    const { value, depth } = entry;
    if (typeof value !== 'object' || value === null) continue;
    const inner = Object.values(value);
    nodes += inner.length;
    if (nodes > MOST_NODES || depth > 32) return false;
    for (const next of inner) pending.push({ value: next, depth: depth + 1 });
  }
  return true;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

// V8 quotes the input in its message; the position is enough, and the input may be somebody's secret.
function whereJsonFails(error: unknown): string {
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined
    ? 'it ends too early or has an unexpected character'
    : `unexpected character at position ${position}`;
}

/** The top-level field in which some text is not well-formed UTF-16; nested ones count for their field. */
function findLoneSurrogate(root: unknown): string | undefined {
  // A list instead of recursion: a body may be nested a million deep.
  const pending: Array<[string, unknown]> = [['', root]];
  for (let entry = pending.pop(); entry; entry = pending.pop()) {
    const [field, value] = entry;
    if (typeof value === 'string' && !value.isWellFormed()) return field || 'body';
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (!key.isWellFormed()) return field || 'body';
      pending.push([field || key, inner]);
    }
  }
  return undefined;
}
