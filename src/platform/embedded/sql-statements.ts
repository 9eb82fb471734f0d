// Reads just enough of a SQL text to know what each of its statements is, skipping comments and literals.

/** One statement, as far as the front looks at it. */
export interface StatementOutline {
  /** Words and parentheses outside literals and comments, lower case: `create temp table t ( a int )`. */
  code: string;
}

const WORD = /[a-z_\u0080-\uffff][a-z0-9_$\u0080-\uffff]*/iy;
const SPACE = /\s+/y;
const DOLLAR_TAG = /\$(?:[a-z_\u0080-\uffff][a-z0-9_\u0080-\uffff]*)?\$/iy;

function matchAt(pattern: RegExp, text: string, index: number): string | undefined {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0];
}

/** Index after the block comment that opens at `start`; PostgreSQL nests them. */
function skipBlockComment(sql: string, start: number): number {
  let depth = 1;
  let index = start + 2;
  while (index < sql.length && depth > 0) {
    const pair = sql.slice(index, index + 2);
    if (pair === '/*') depth += 1;
    else if (pair === '*/') depth -= 1;
    index += pair === '/*' || pair === '*/' ? 2 : 1;
  }
  return index;
}

/** Index after the quoted text that opens at `start`; a doubled quote stands for itself. */
function skipQuoted(sql: string, start: number, quote: string, backslashEscapes: boolean): number {
  let index = start + 1;
  while (index < sql.length) {
    const character = sql[index];
    if (character === '\\' && backslashEscapes) index += 2;
    else if (character !== quote) index += 1;
    else if (sql[index + 1] === quote) index += 2;
    else return index + 1;
  }
  return index;
}

/** Index after the literal or comment at `index`, or `index` itself where there is none. */
function skipOpaque(sql: string, index: number, previousWord: string): number {
  const character = sql[index];
  if (character === "'") return skipQuoted(sql, index, "'", previousWord === 'e');
  if (character === '"') return skipQuoted(sql, index, '"', false);
  if (character === '-' && sql[index + 1] === '-') {
    const end = sql.indexOf('\n', index);
    return end < 0 ? sql.length : end + 1;
  }
  if (character === '/' && sql[index + 1] === '*') return skipBlockComment(sql, index);
  if (character === '$') {
    const tag = matchAt(DOLLAR_TAG, sql, index);
    if (tag === undefined) return index;
    const end = sql.indexOf(tag, index + tag.length);
    return end < 0 ? sql.length : end + tag.length;
  }
  return index;
}

/**
 * Splits a SQL text at its top-level semicolons and outlines every statement.
 *
 * @param sql one or several statements, as a client sent them
 * @returns an outline for each statement that is not empty
 */
export function outlineStatements(sql: string): StatementOutline[] {
  const statements: StatementOutline[] = [];
  let words: string[] = [];
  let adjacentWord = '';
  let index = 0;
  const finish = () => {
    if (words.length > 0) statements.push({ code: words.join(' ') });
    words = [];
  };
  while (index < sql.length) {
    const after = skipOpaque(sql, index, adjacentWord);
    adjacentWord = '';
    if (after > index) {
      index = after;
      continue;
    }
    const word = matchAt(WORD, sql, index);
    const space = word === undefined ? matchAt(SPACE, sql, index) : undefined;
    if (word !== undefined) {
      adjacentWord = word.toLowerCase();
      words.push(adjacentWord);
    } else if (sql[index] === ';') {
      finish();
    } else if (sql[index] === '(' || sql[index] === ')') {
      words.push(sql[index] ?? '');
    }
    index += word?.length ?? space?.length ?? 1;
  }
  finish();
  return statements;
}
