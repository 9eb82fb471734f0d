// The table of languages: what may be asked for, and what a file name says.
import { bundledLanguagesInfo } from 'shiki/langs';
import { describe, expect, it } from 'vitest';
import { languageByExtension, languageByFileName } from '../../../src/services/paste/language-file-names.ts';
import {
  fileNamesByLanguage,
  guessLanguage,
  languageName,
  languages,
  resolveLanguage,
} from '../../../src/services/paste/languages.ts';

describe('the table of languages', () => {
  it('has every language that Shiki bundles, and plain text first', () => {
    const ids = languages().map(({ id }) => id);
    expect(ids[0]).toBe('plaintext');
    expect(ids.slice(1).sort()).toEqual(bundledLanguagesInfo.map(({ id }) => id).sort());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each([
    ['typescript', 'typescript'],
    ['ts', 'typescript'],
    ['js', 'javascript'],
    ['py', 'python'],
    ['bash', 'shellscript'],
    ['TypeScript', 'typescript'],
    ['plaintext', 'plaintext'],
    ['text', 'plaintext'],
    ['txt', 'plaintext'],
    ['plain', 'plaintext'],
  ])('resolves %s to %s', (given, id) => {
    expect(resolveLanguage(given)).toBe(id);
  });

  it.each(['', 'klingon', 'constructor', '__proto__', 'ansi'])('does not know %j', (given) => {
    expect(resolveLanguage(given)).toBeUndefined();
  });

  it('resolves every id to itself, though another language has it as an alias', () => {
    for (const { id } of languages()) expect(resolveLanguage(id)).toBe(id);
  });

  it('names languages for people', () => {
    expect(languageName('cpp')).toBe('C++');
    expect(languageName('plaintext')).toBe('Plain text');
  });
});

describe('guessing by file name', () => {
  it.each([
    ['main.ts', 'typescript'],
    ['App.tsx', 'tsx'],
    ['index.mjs', 'javascript'],
    ['Dockerfile', 'docker'],
    ['Dockerfile.dev', 'docker'],
    ['docker/Containerfile', 'docker'],
    ['Makefile', 'make'],
    ['GNUmakefile', 'make'],
    ['rules.mk', 'make'],
    ['util.h', 'c'],
    ['util.hpp', 'cpp'],
    ['ci.yml', 'yaml'],
    ['.bashrc', 'shellscript'],
    ['.env.local', 'dotenv'],
    ['Cargo.lock', 'toml'],
    ['tsconfig.json', 'jsonc'],
    ['package.json', 'json'],
    ['/etc/nginx/nginx.conf', 'nginx'],
    ['C:\\work\\Program.CS', 'csharp'],
    ['archive.tar.rs', 'rust'],
    ['README.md', 'markdown'],
    ['notes.txt', 'plaintext'],
    ['LICENSE', 'plaintext'],
    ['typescript', 'plaintext'],
    ['x.constructor', 'plaintext'],
    ['', 'plaintext'],
  ])('takes %j for %s', (fileName, id) => {
    expect(guessLanguage(fileName)).toBe(id);
  });

  it('only ever answers supported languages', () => {
    for (const id of [...Object.values(languageByFileName), ...Object.values(languageByExtension)]) {
      expect(resolveLanguage(id)).toBe(id);
    }
  });

  it('gives a page the same answers in its table of names', () => {
    for (const [id, names] of fileNamesByLanguage()) {
      for (const name of names) expect(guessLanguage(name.replace('*', 'x'))).toBe(id);
    }
  });
});
