// What `svc deliveries` does. It goes to the database; a dispatcher that runs hears of it.
import type { Command } from 'commander';
import type { DeliveryStatus } from '../../platform/database/kanban-tables.ts';
import { Failure } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import type { Platform } from '../../platform/platform.ts';
import {
  type DeliveryFilter,
  type DeliveryRecord,
  findDelivery,
  listAllDeliveries,
  planSweep,
  purgeDeliveries,
  requeueAll,
  type SweepPlan,
  type Swept,
} from '../../services/kanban/webhooks/administer-deliveries.ts';
import { wakeDispatcher } from '../../services/kanban/webhooks/announce-deliveries.ts';
import { bytes } from '../byte-count.ts';
import { progressReporter } from '../progress.ts';
import { type PurgeKind, runPurge } from '../purge/run-purge.ts';
import { confirm, endProgress, note, print, printJson, type Terminal } from '../terminal.ts';
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

const REQUEUE = 'svc deliveries requeue';

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
  if (ids.length === 0) requireChoice(flags, filter, `${REQUEUE} --all`);
  const named = [...new Set(ids)];
  await withPlatform(
    terminal,
    command,
    REQUEUE,
    async (platform) => {
      for (const id of named) if (!(await findDelivery(platform, id))) throw noSuchDelivery(id);
      await requeueWithPlan(
        terminal,
        platform,
        named.length > 0 ? { ids: named } : { ...filter, statuses: filter.statuses ?? ['failed', 'dead'] },
        flags,
      );
    },
    { dryRun: flags.dryRun ?? false },
  );
}

async function requeueWithPlan(
  terminal: Terminal,
  platform: Platform,
  filter: DeliveryFilter,
  { dryRun = false, yes = false, json = false, quiet = false }: Flags,
): Promise<void> {
  const plan = await planSweep(platform, filter);
  const noteThePending = (ended: number) => {
    const pending = (filter.ids?.length ?? ended) - ended;
    if (pending > 0 && !quiet) note(terminal, `${counted(pending)} pending already`);
  };
  if (dryRun) {
    if (json) printJson(terminal, { dryRun: true, ...plan });
    else print(terminal, `would re-queue ${describe(plan)}`);
    return noteThePending(plan.deliveries);
  }
  // Whoever names deliveries has said what is meant.
  if (plan.deliveries > 0 && !yes && !filter.ids) {
    note(terminal, `To be re-queued: ${describe(plan)}`);
    if (!(await confirm(terminal, 'Deliver them again?', '--yes')))
      return note(terminal, 'nothing was re-queued');
  }
  const interrupt = interruptible();
  const startedAt = performance.now();
  const { deliveries, complete } = await requeueAll(platform, filter, {
    command: REQUEUE,
    signal: interrupt.signal,
    onProgress: progressReporter<Swept>(
      terminal,
      { json, quiet },
      {
        inWords: ({ deliveries }) => `${deliveries} of ${counted(plan.deliveries)} re-queued`,
        inJson: ({ deliveries }) => ({ deliveries }),
      },
    ),
  }).finally(() => {
    interrupt.done();
    endProgress(terminal);
  });
  if (deliveries > 0) wakeDispatcher({ platform });
  const durationMs = Math.round(performance.now() - startedAt);
  if (json) printJson(terminal, { event: 'result', deliveries, complete, durationMs });
  else if (!quiet) print(terminal, `re-queued ${counted(deliveries)}`);
  if (!complete) {
    note(terminal, 'interrupted; run the same command again to go on');
    process.exitCode = EXIT.partial;
    return;
  }
  noteThePending(deliveries);
}

/** Removes deliveries that a filter means. */
export async function runPurgeDeliveries(terminal: Terminal, command: Command): Promise<void> {
  const flags = command.opts<Flags>();
  const filter = filterOf(flags);
  requireChoice(flags, filter, 'svc deliveries purge --status dead');
  if (flags.status === 'pending') {
    throw usage(
      'pending deliveries are not removed',
      'delete the webhook: what it was still to be told goes with it',
    );
  }
  const kind: PurgeKind<SweepPlan, Swept> = {
    commandName: 'svc deliveries purge',
    plan: (platform) => planSweep(platform, filter),
    isEmpty: ({ deliveries }) => deliveries === 0,
    describe,
    purge: (platform, options) => purgeDeliveries(platform, filter, options),
    summarize: ({ deliveries, bodyBytes }) => `${counted(deliveries)}, ${bytes(bodyBytes)}`,
  };
  await runPurge(terminal, command, kind);
}

function filterOf({ board, webhook, status, olderThan }: Flags): DeliveryFilter {
  return {
    boardId: board,
    webhookId: webhook,
    statuses: status === undefined ? undefined : [status],
    olderThanMs: olderThan,
  };
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

/** A plan in words: how many, how much, from when to when. */
function describe({ deliveries, bodyBytes, oldest, newest }: SweepPlan): string {
  return deliveries === 0 || !oldest || !newest
    ? 'nothing: no delivery that has ended matches'
    : `${counted(deliveries)}, ${bytes(bodyBytes)}, made between ${oldest.toISOString()} and ${newest.toISOString()}`;
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
