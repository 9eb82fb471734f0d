// Shiki, wrapped for one purpose: content and language in, packed tokens out, within a time. Runs in a worker.
import { createHighlighterCore, guessEmbeddedLanguages, type HighlighterCore } from 'shiki/core';
import { createOnigurumaEngine } from 'shiki/engine/oniguruma';
import { bundledLanguages } from 'shiki/langs';
import { kindOfColour, kindTheme } from './token-kinds.ts';
import { packToken, type Tokens } from './tokens.ts';

export interface TokenizeRequest {
  content: string;
  /** An id of Shiki's, not an alias. */
  language: string;
  /** Tokenizing (not loading the grammar) ends after this, between two lines. */
  timeLimitMs: number;
  /** A line of more UTF-16 units than this is machine-made: nobody reads it, and grammars take for ever. */
  lineLengthLimit: number;
}

export type Untokenized = 'line-too-long' | 'too-slow' | 'unknown-language';

export type TokenizeResult = { tokens: Tokens } | { untokenized: Untokenized };

/** A grammar that a document only embeds costs memory and time; a README seldom has more. */
const EMBEDDED_LANGUAGES_LIMIT = 6;

/** Where Shiki's packed token metadata keeps the number of the colour (EncodedTokenMetadata). */
const FOREGROUND_SHIFT = 15;
const FOREGROUND_MASK = 0x1ff;

let loading: Promise<HighlighterCore> | undefined;

function loadHighlighter(): Promise<HighlighterCore> {
  loading ??= createHighlighterCore({
    themes: [kindTheme],
    langs: [],
    engine: createOnigurumaEngine(import('shiki/wasm')),
  });
  return loading;
}

/** Tokenizes content of one language; never throws for what the content is. */
export async function tokenize(request: TokenizeRequest): Promise<TokenizeResult> {
  const lines = request.content.split('\n');
  if (lines.some((line) => line.length > request.lineLengthLimit)) return { untokenized: 'line-too-long' };

  const highlighter = await loadHighlighter();
  if (!(await loadGrammar(highlighter, request))) return { untokenized: 'unknown-language' };
  return tokenizeLines(highlighter, lines, request);
}

async function loadGrammar(
  highlighter: HighlighterCore,
  { content, language }: TokenizeRequest,
): Promise<boolean> {
  const grammar = lookUpGrammar(language);
  if (grammar === undefined) return false;
  await highlighter.loadLanguage(grammar);
  const embedded = guessEmbeddedLanguages(content, language)
    .map(lookUpGrammar)
    .filter((found) => found !== undefined)
    .slice(0, EMBEDDED_LANGUAGES_LIMIT);
  if (embedded.length > 0) await highlighter.loadLanguage(...embedded);
  return true;
}

function lookUpGrammar(id: string) {
  const entry = Object.entries(bundledLanguages).find(([name]) => name === id);
  return entry?.[1];
}

function tokenizeLines(
  highlighter: HighlighterCore,
  lines: readonly string[],
  { language, timeLimitMs }: TokenizeRequest,
): TokenizeResult {
  const { colorMap } = highlighter.setTheme(kindTheme.name ?? '');
  const kinds = colorMap.map(kindOfColour);
  const grammar = highlighter.getLanguage(language);
  const deadline = performance.now() + timeLimitMs;

  const tokens: number[] = [];
  let state: Parameters<typeof grammar.tokenizeLine2>[1] = null;
  let lineStart = 0;
  let previousKind = 0;
  const add = (start: number, kind: number) => {
    if (kind !== previousKind) tokens.push(packToken(start, kind));
    previousKind = kind;
  };

  for (const lineWithReturn of lines) {
    const remainingMs = deadline - performance.now();
    if (remainingMs <= 0) return { untokenized: 'too-slow' };
    const line = lineWithReturn.endsWith('\r') ? lineWithReturn.slice(0, -1) : lineWithReturn;
    const result = grammar.tokenizeLine2(line, state, Math.ceil(remainingMs));
    if (result.stoppedEarly) return { untokenized: 'too-slow' };
    for (let index = 0; index < result.tokens.length; index += 2) {
      const start = result.tokens[index] ?? 0;
      const metadata = result.tokens[index + 1] ?? 0;
      if (start < line.length)
        add(lineStart + start, kinds[(metadata >>> FOREGROUND_SHIFT) & FOREGROUND_MASK] ?? 0);
    }
    // A token never spans a line, so that a line can be cut out of a rendering.
    add(lineStart + line.length, 0);
    state = result.ruleStack;
    lineStart += lineWithReturn.length + 1;
  }
  return { tokens: Uint32Array.from(tokens) };
}
