// Exit statuses of the command, each with what it means. 13 is Node's own for a stuck await.

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  partial: 3,
  databaseUnreachable: 10,
  lockHeld: 11,
  schemaBehind: 12,
  schemaNewer: 14,
  serverUnreachable: 69,
  configuration: 78,
  interrupted: 130,
  terminated: 143,
} as const;

export const EXIT_MEANINGS: ReadonlyArray<readonly [number, string]> = [
  [EXIT.done, 'done'],
  [EXIT.failed, 'failed'],
  [EXIT.usage, 'usage, or refused (a question could not be asked; the flag that answers it is named)'],
  [EXIT.partial, 'done in part'],
  [EXIT.databaseUnreachable, 'database unreachable'],
  [EXIT.lockHeld, 'lock held by another process (who holds it is printed)'],
  [EXIT.schemaBehind, 'database schema is behind this program (the command to run is printed)'],
  [EXIT.schemaNewer, 'database schema is newer than this program'],
  [EXIT.serverUnreachable, 'Redis or a server unreachable'],
  [EXIT.configuration, 'configuration wrong'],
  [EXIT.interrupted, 'interrupted (Ctrl-C)'],
  [EXIT.terminated, 'terminated (SIGTERM)'],
];
