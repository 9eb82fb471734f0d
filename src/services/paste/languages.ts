// The languages a paste may be written in: every one that Shiki bundles, by its id, and plain text.
// Only Shiki's table is read here, no grammar is loaded, so that the terminal can afford the import.
import { bundledLanguagesInfo } from 'shiki/langs';
import { languageByExtension, languageByFileName } from './language-file-names.ts';

export const PLAIN_TEXT = 'plaintext';

export interface Language {
  id: string;
  name: string;
}

const plainText: Language = { id: PLAIN_TEXT, name: 'Plain text' };
const plainTextAliases = ['plain', 'text', 'txt'];

const supported: readonly Language[] = [
  plainText,
  ...bundledLanguagesInfo.map(({ id, name }) => ({ id, name })),
];

const names = new Map(supported.map(({ id, name }) => [id, name]));

let sorted: readonly Language[] | undefined;

const idsByAlias = new Map<string, string>([
  ...plainTextAliases.map((alias): [string, string] => [alias, PLAIN_TEXT]),
  ...bundledLanguagesInfo.flatMap(({ id, aliases }) =>
    (aliases ?? []).map((alias): [string, string] => [alias, id]),
  ),
  // Last, so that an id always means itself.
  ...supported.map(({ id }): [string, string] => [id, id]),
]);

/** Every supported language, plain text first, the others by name. */
export function languages(): readonly Language[] {
  // Sorted at the first call: comparing by locale loads so much that a terminal would notice.
  sorted ??= supported.toSorted((a, b) =>
    a === plainText ? -1 : b === plainText ? 1 : a.name.localeCompare(b.name, 'en'),
  );
  return sorted;
}

/**
 * The id that an id or alias stands for, in any case: `ts` is `typescript`, `TXT` is `plaintext`.
 *
 * @returns undefined where no supported language is called that
 */
export function resolveLanguage(idOrAlias: string): string | undefined {
  return idsByAlias.get(idOrAlias) ?? idsByAlias.get(idOrAlias.toLowerCase());
}

/** The name of a language for people; an unknown id is its own name. */
export function languageName(id: string): string {
  return names.get(id) ?? id;
}

/**
 * What a file is probably written in, from its name alone: `Dockerfile`, `src/main.rs`, `C:\\x\\a.tsx`.
 *
 * @returns a supported language id, `plaintext` where the name tells nothing
 */
export function guessLanguage(fileName: string): string {
  const base = (fileName.split(/[\\/]/).at(-1) ?? '').toLowerCase();
  const whole = lookUp(languageByFileName, base);
  if (whole !== undefined) return whole;
  if (base.startsWith('.env.') || base.endsWith('.env')) return 'dotenv';
  if (base.startsWith('dockerfile.') || base.startsWith('containerfile.')) return 'docker';
  if (base.startsWith('makefile.')) return 'make';

  const parts = base.split('.');
  if (parts.length < 2) return PLAIN_TEXT;
  const extension = parts.at(-1) ?? '';
  return lookUp(languageByExtension, extension) ?? idsByAlias.get(extension) ?? PLAIN_TEXT;
}

/**
 * By what file names each language is known, for a page that guesses without asking: `*.rs` is an extension,
 * `dockerfile` a whole name, all lower case.
 */
export function fileNamesByLanguage(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>(supported.map(({ id }) => [id, []]));
  const extensions = new Set([...idsByAlias.keys(), ...Object.keys(languageByExtension)]);
  for (const extension of extensions) found.get(guessLanguage(`x.${extension}`))?.push(`*.${extension}`);
  for (const [name, id] of Object.entries(languageByFileName)) found.get(id)?.push(name);
  return found;
}

function lookUp(table: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
