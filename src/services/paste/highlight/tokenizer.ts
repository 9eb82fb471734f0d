// The pool of threads that run grammars, and the bounds around them: how much, how long, how many at a time.
import pLimit from 'p-limit';
import { Piscina } from 'piscina';
import { siblingModule } from '../../../platform/sibling-module.ts';
import { PLAIN_TEXT } from '../languages.ts';
import type { TokenizeRequest, TokenizeResult, Untokenized } from './tokenize.ts';
import type { Tokens } from './tokens.ts';

export interface TokenizerOptions {
  /** Contents of up to so many UTF-16 units have a thread of their own: they do not wait behind long ones. */
  smallLength: number;
  /** A thread is started when it is needed, and ends when it was idle for so long. */
  idleTimeoutMs: number;
  /** Requests that may wait for a thread; one more is answered plain at once. */
  maxQueue: number;
  /** Content of more UTF-8 bytes stays plain. */
  maxBytes: number;
  /** Content with a line of more UTF-16 units stays plain. */
  maxLineLength: number;
  /** Tokenizing that takes longer is given up, between two lines. */
  timeLimitMs: number;
  /** A regular expression cannot be interrupted: a thread that is silent this much longer is killed. */
  killAfterMs: number;
}

/** Why content is shown plain; `busy` may be otherwise the next time. */
export type PlainReason = Untokenized | 'plain-text' | 'too-large' | 'busy' | 'failed';

export type Tokenized = { tokens: Tokens } | { plain: PlainReason };

export interface Tokenizer {
  /** Never rejects: what cannot be tokenized is plain. */
  tokenize(content: string, language: string): Promise<Tokenized>;
  /** Ends the threads at once; what runs is answered plain. */
  close(): Promise<void>;
}

/** Starts no thread yet. */
export function createTokenizer(options: TokenizerOptions): Tokenizer {
  const pool = new Piscina<TokenizeRequest, TokenizeResult>({
    filename: siblingModule(import.meta.url, './tokenize-worker').href,
    minThreads: 0,
    maxThreads: 2,
    idleTimeout: options.idleTimeoutMs,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    recordTiming: false,
  });
  // The pool could queue too, but then a task's time would run while it waits.
  const [small, large] = [pLimit(1), pLimit(1)];
  let closed = false;

  async function run(content: string, language: string): Promise<Tokenized> {
    if (closed) return { plain: 'busy' };
    const signal = AbortSignal.timeout(options.timeLimitMs + options.killAfterMs);
    try {
      const result = await pool.run(
        { content, language, timeLimitMs: options.timeLimitMs, lineLengthLimit: options.maxLineLength },
        { signal },
      );
      return 'tokens' in result ? result : { plain: result.untokenized };
    } catch {
      // Killed for its time or its memory, or a grammar that throws: the text can still be read.
      return { plain: signal.aborted ? 'too-slow' : closed ? 'busy' : 'failed' };
    }
  }

  return {
    async tokenize(content, language) {
      if (language === PLAIN_TEXT) return { plain: 'plain-text' };
      if (Buffer.byteLength(content) > options.maxBytes) return { plain: 'too-large' };
      const queue = content.length <= options.smallLength ? small : large;
      if (queue.pendingCount >= options.maxQueue) return { plain: 'busy' };
      return queue(run, content, language);
    },

    async close() {
      closed = true;
      await pool.destroy();
    },
  };
}
