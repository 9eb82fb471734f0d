// A database some of whose reads a test holds up, or has fail, once the server has answered them.
import { type KyselyPlugin, type RootOperationNode, TableNode } from 'kysely';
import type { Database } from '../../src/platform/database/connect.ts';

export interface HeldReads {
  database: Database;
  /** Has reads of a table wait for what is given from now on; a rejection makes them fail. */
  hold(table: string, until: () => Promise<void>): void;
  /** Lets all reads go by again. */
  letGo(): void;
  /** How many reads of a table were asked for. */
  asked(table: string): number;
}

/** The table of whatever is written in SQL. */
export const STATEMENT = '(statement)';

/** Wraps a database. */
export function holdReads(database: Database): HeldReads {
  const tables = new WeakMap<object, string>();
  const counts = new Map<string, number>();
  let held: { table: string; until: () => Promise<void> } | undefined;
  const plugin: KyselyPlugin = {
    transformQuery: ({ queryId, node }) => {
      const table = tableOf(node);
      tables.set(queryId, table);
      counts.set(table, (counts.get(table) ?? 0) + 1);
      return node;
    },
    transformResult: async ({ queryId, result }) => {
      if (held && tables.get(queryId) === held.table) await held.until();
      return result;
    },
  };
  return {
    database: database.withPlugin(plugin),
    hold: (table, until) => {
      held = { table, until };
    },
    letGo: () => {
      held = undefined;
    },
    asked: (table) => counts.get(table) ?? 0,
  };
}

function tableOf(node: RootOperationNode): string {
  if (node.kind === 'RawNode') return STATEMENT;
  const from = node.kind === 'SelectQueryNode' ? node.from?.froms[0] : undefined;
  return from && TableNode.is(from) ? from.table.identifier.name : '';
}
