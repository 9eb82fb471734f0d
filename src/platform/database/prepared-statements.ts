// Statements that come again and again are prepared, once a connection: PostgreSQL then parses and plans them once,
// which costs it more than running most of them. Which ones is learned from use, as the JDBC driver does.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { codeOf, messageOf } from '../errors.ts';
import type { Log } from '../log.ts';

const USES_BEFORE = 5;
/** Of one connection; the server keeps a plan of each in memory. */
const MOST_PREPARED = 250;
const MOST_WATCHED = 2_000;

// A plan is made for tables as large as they are then; one that grows fast would be gone through row by row until
// PostgreSQL analyzes it, which takes minutes.
const PLANS_SERVE_MS = 10_000;

const FEATURE_NOT_SUPPORTED = '0A000';
const INVALID_STATEMENT_NAME = '26000';
const DUPLICATE_STATEMENT = '42P05';

/** Whether a table changed under a prepared statement, which must be prepared anew. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === FEATURE_NOT_SUPPORTED && /cached plan/.test(messageOf(error));
}

/** Whether a pooler between here and the server gave the connection to another in the meantime. */
export function isStatementLost(error: unknown): boolean {
  const code = codeOf(error);
  return code === INVALID_STATEMENT_NAME || code === DUPLICATE_STATEMENT;
}

/** Names of the statements that a pool prepares. */
export interface StatementNames {
  /** The name of a statement that is worth one; counts the use. */
  nameOf(text: string): string | undefined;
  /** What is to be done about an error of a named statement: whether it is to be sent again as it is. */
  learnFrom(error: unknown): boolean;
}

/** Makes the names of one pool. */
export function createStatementNames(log: Log): StatementNames {
  const uses = new LRUCache<string, number>({ max: MOST_WATCHED });
  let names = new Map<string, string>();
  let generation = 0;
  let isGivenUp = false;
  const give = (text: string) => {
    // Made of the text: behind a pooler that hands connections around, a name never means another statement.
    const name = `svc_${generation}_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
    names.set(text, name);
    uses.delete(text);
    return name;
  };
  return {
    nameOf: (text) => {
      if (isGivenUp) return undefined;
      const name = names.get(text);
      if (name !== undefined || names.size >= MOST_PREPARED) return name;
      const count = (uses.get(text) ?? 0) + 1;
      if (count > USES_BEFORE) return give(text);
      uses.set(text, count);
      return undefined;
    },
    learnFrom: (error) => {
      if (isStalePlan(error)) {
        generation++;
        names = new Map();
        return true;
      }
      if (!isStatementLost(error)) return false;
      if (!isGivenUp) {
        log.warn(
          { error: messageOf(error) },
          'prepared statements are not used any more: a pooler between here and PostgreSQL does not keep them',
        );
      }
      isGivenUp = true;
      return true;
    },
  };
}

/** The client of a pool that prepares by these names. */
export function preparingClient(names: StatementNames): typeof pg.Client {
  // The driver's overloads cannot be restated; only the form that Kysely calls is looked at.
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  return class extends pg.Client {
    #plannedAt = performance.now();

    // biome-ignore lint/suspicious/noExplicitAny: the driver's own signature
    override query(...args: any[]): any {
      const [text, values, callback] = args;
      if (
        typeof text !== 'string' ||
        !Array.isArray(values) ||
        values.length === 0 ||
        callback !== undefined
      ) {
        return query.apply(this, args);
      }
      const name = names.nameOf(text);
      if (name === undefined) return query.call(this, text, values);
      if (performance.now() - this.#plannedAt > PLANS_SERVE_MS) {
        this.#plannedAt = performance.now();
        // Goes ahead of the statement. What breaks it breaks that too, which tells.
        (query.call(this, 'DISCARD PLANS') as Promise<unknown>).catch(() => undefined);
      }
      return (query.call(this, { name, text, values }) as Promise<unknown>).catch((error: unknown) => {
        if (!names.learnFrom(error)) throw error;
        // Within a transaction this fails too, since that has ended; what went wrong is the first error.
        return (query.call(this, text, values) as Promise<unknown>).catch(() => Promise.reject(error));
      });
    }
  };
}
