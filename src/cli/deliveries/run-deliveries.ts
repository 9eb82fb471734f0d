// What `svc deliveries` does. It goes to the database; a dispatcher that runs hears of it.
import type { Command } from 'commander';
import type { DeliveryStatus } from '../../platform/database/kanban-tables.ts';
import { Failure } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import type { Platform } from '../../platform/platform.ts';
import {
  countDeliveries,
  type DeliveryFilter,
  type DeliveryRecord,
  findDelivery,
  listAllDeliveries,
  purgeDeliveries,
  requeueAll,
  type SweepOptions,
} from '../../services/kanban/webhooks/administer-deliveries.ts';
import { wakeDispatcher } from '../../services/kanban/webhooks/announce-deliveries.ts';
import { requeue } from '../../services/kanban/webhooks/deliveries.ts';
import { confirm, endProgress, note, print, printJson, showProgress, type Terminal } from '../terminal.ts';
import { usage } from '../usage.ts';
import { interruptible, withPlatform } from '../with-platform.ts';

interface Flags {
  board?: string;
  webhook?: string;
  status?: DeliveryStatus;
  olderThan?: number;
  all?: boolean;
  limit?: number;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
  quiet?: boolean;
}

/** Lists deliveries, newest first. */
export async function runList(terminal: Terminal, command: Command): Promise<void> {
  const flags = command.opts<Flags>();
  await withPlatform(terminal, command, 'svc deliveries list', async (platform) => {
    for await (const delivery of listAllDeliveries(platform, filterOf(flags), flags.limit)) {
      if (flags.json) printJson(terminal, delivery);
      else print(terminal, lineOf(delivery));
    }
  });
}

/** Shows one delivery. */
export async function runShow(terminal: Terminal, command: Command, id: string): Promise<void> {
  const { json = false } = command.opts<Flags>();
  await withPlatform(terminal, command, 'svc deliveries show', async (platform) => {
    const delivery = await findDelivery(platform, id);
    if (!delivery) throw noSuchDelivery(id);
    if (json) return printJson(terminal, delivery);
    print(terminal, `id       ${delivery.id}`);
    print(terminal, `verb     ${delivery.verb}`);
    print(terminal, `board    ${delivery.boardId}`);
    print(terminal, `webhook  ${delivery.webhookId ?? '(deleted with its board)'}`);
    print(terminal, `to       ${delivery.url ?? '(unknown)'}`);
    print(terminal, `status   ${delivery.status}${nextOf(delivery)}`);
    for (const { at, status, error, durationMs } of delivery.attempts) {
      print(terminal, `attempt  ${at}  ${status ?? error ?? '?'}  ${durationMs} ms`);
    }
    print(terminal, `body     ${delivery.body}`);
  });
}

/** Makes deliveries pending again: those that are named, or all that a filter means. */
export async function runRequeue(terminal: Terminal, command: Command, ids: string[]): Promise<void> {
  const flags = command.opts<Flags>();
  const filter = filterOf(flags);
  if (ids.length > 0 && (flags.all || hasAny(filter))) {
    throw usage('ids and filters were given', 'name deliveries, or what they have in common, not both');
  }
  if (ids.length === 0) requireChoice(flags, filter, 'svc deliveries requeue --all');
  await withPlatform(
    terminal,
    command,
    'svc deliveries requeue',
    async (platform) => {
      if (ids.length > 0) return requeueNamed(terminal, platform, ids, flags);
      const filters: DeliveryFilter[] =
        filter.status === undefined
          ? [
              { ...filter, status: 'failed' },
              { ...filter, status: 'dead' },
            ]
          : [filter];
      await sweepAll(terminal, platform, flags, {
        filters,
        doing: 're-queue',
        done: 're-queued',
        question: 'Deliver them again?',
        sweep: requeueAll,
      });
      wakeDispatcher({ platform });
    },
    { dryRun: flags.dryRun ?? false },
  );
}

/** Removes deliveries that a filter means. */
export async function runPurgeDeliveries(terminal: Terminal, command: Command): Promise<void> {
  const flags = command.opts<Flags>();
  const filter = filterOf(flags);
  requireChoice(flags, filter, 'svc deliveries purge --status dead');
  if (filter.status === 'pending') {
    throw usage(
      'pending deliveries are not removed',
      'delete the webhook: what it was still to be told goes with it',
    );
  }
  const filters: DeliveryFilter[] =
    filter.status === undefined
      ? (['delivered', 'failed', 'dead'] as const).map((status) => ({ ...filter, status }))
      : [filter];
  await withPlatform(
    terminal,
    command,
    'svc deliveries purge',
    (platform) =>
      sweepAll(terminal, platform, flags, {
        filters,
        doing: 'remove',
        done: 'removed',
        question: 'Remove them for good?',
        sweep: purgeDeliveries,
      }),
    { dryRun: flags.dryRun ?? false },
  );
}

async function requeueNamed(
  terminal: Terminal,
  platform: Platform,
  ids: readonly string[],
  { dryRun = false, json = false, quiet = false }: Flags,
): Promise<void> {
  for (const id of ids) if (!(await findDelivery(platform, id))) throw noSuchDelivery(id);
  const requeued = dryRun ? [] : await requeue(platform.database, ids);
  if (requeued.length > 0) wakeDispatcher({ platform });
  const untouched = dryRun ? 0 : ids.length - requeued.length;
  if (json)
    return printJson(terminal, {
      event: 'result',
      dryRun,
      deliveries: dryRun ? ids.length : requeued.length,
    });
  if (quiet) return;
  if (dryRun) print(terminal, `would re-queue ${counted(ids.length)}`);
  else print(terminal, `re-queued ${counted(requeued.length)}`);
  if (untouched > 0) note(terminal, `${counted(untouched)} pending already`);
}

interface Sweep {
  filters: readonly DeliveryFilter[];
  doing: string;
  done: string;
  question: string;
  sweep: (platform: Platform, filter: DeliveryFilter, options: SweepOptions) => Promise<number>;
}

const JSON_PROGRESS_EVERY_MS = 1_000;

async function sweepAll(
  terminal: Terminal,
  platform: Platform,
  { dryRun = false, yes = false, json = false, quiet = false }: Flags,
  { filters, doing, done, question, sweep }: Sweep,
): Promise<void> {
  let planned = 0;
  for (const filter of filters) planned += await countDeliveries(platform, filter);
  if (dryRun) {
    if (json) printJson(terminal, { dryRun, deliveries: planned });
    else print(terminal, `would ${doing} ${counted(planned)}`);
    return;
  }
  if (planned > 0 && !yes) {
    note(terminal, `To ${doing}: ${counted(planned)}`);
    if (!(await confirm(terminal, question, '--yes'))) return note(terminal, 'nothing was changed');
  }
  const interrupt = interruptible();
  let total = 0;
  let lastAt = performance.now();
  const onProgress = (count: number) => {
    if (!json && !quiet) showProgress(terminal, `${counted(total + count)} of ${planned} ${done}`);
    if (!json || performance.now() - lastAt < JSON_PROGRESS_EVERY_MS) return;
    lastAt = performance.now();
    printJson(terminal, { event: 'progress', deliveries: total + count });
  };
  try {
    for (const filter of filters)
      total += await sweep(platform, filter, { signal: interrupt.signal, onProgress });
  } finally {
    interrupt.done();
    endProgress(terminal);
  }
  if (json) printJson(terminal, { event: 'result', deliveries: total, complete: !interrupt.signal.aborted });
  else if (!quiet) print(terminal, `${done} ${counted(total)}`);
  if (interrupt.signal.aborted) {
    note(terminal, 'interrupted; run the same command again to go on');
    process.exitCode = EXIT.partial;
  }
}

function filterOf({ board, webhook, status, olderThan }: Flags): DeliveryFilter {
  return { boardId: board, webhookId: webhook, status, olderThanMs: olderThan };
}

function hasAny(filter: DeliveryFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

function requireChoice({ all }: Flags, filter: DeliveryFilter, example: string): void {
  if (!all && !hasAny(filter))
    throw usage('no delivery is named', `name some, filter them, or mean all: ${example}`);
}

function lineOf(delivery: DeliveryRecord): string {
  const { id, status, verb, attempts, url } = delivery;
  const last = attempts.at(-1);
  const outcome = last ? ` (${last.status ?? last.error ?? '?'})` : '';
  return `${id}  ${status.padEnd(9)}  ${verb.padEnd(20)}  ${attempts.length} attempts${outcome}  ${url ?? ''}${nextOf(delivery)}`;
}

function nextOf({ nextAttemptAt }: DeliveryRecord): string {
  return nextAttemptAt ? `, next ${nextAttemptAt.toISOString()}` : '';
}

function counted(count: number): string {
  return `${count} ${count === 1 ? 'delivery' : 'deliveries'}`;
}

function noSuchDelivery(id: string): Failure {
  return new Failure({
    code: 'NO_SUCH_DELIVERY',
    message: `there is no delivery ${id}`,
    hint: 'svc deliveries list shows them',
    exit: EXIT.failed,
  });
}
