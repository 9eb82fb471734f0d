// Cron jobs whose process died in the middle: another scheduler runs them again when their lease is over, once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listRuns, recordStart } from '../../src/jobs/history.ts';
import { type RunJobOptions, runJob } from '../../src/jobs/run-job.ts';
import { type Scheduler, startScheduler } from '../../src/jobs/scheduler.ts';
import { findCutOff } from '../../src/jobs/take-over.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { withLease } from '../../src/platform/lease.ts';
import { backends, type TestDatabase } from '../support/databases.ts';
import { until } from '../support/serve.ts';
import { openTestPlatform, type TestPlatform } from '../support/test-platform.ts';

const LEASE_MS = 60_000;
const never = new AbortController().signal;
const aJob = (name: string) => ({ name, description: 'a test', cron: '7 3 * * *', timeLimitMs: 1_000 });

describe.each(backends())('taking over on $name', (backend) => {
  let database: TestDatabase;
  let test1: TestPlatform;
  beforeAll(async () => {
    database = await backend.create();
    test1 = await openTestPlatform({ database });
  });
  afterAll(async () => {
    await test1.platform.close();
    await database.remove();
  });
  const run = (name: string, options: Partial<RunJobOptions> = {}) =>
    runJob(test1.platform, {
      job: aJob(name),
      command: 'a test',
      signal: never,
      work: async () => ({ done: true }),
      ...options,
    });
  const cutOff = (name: string) => findCutOff(test1.platform, [aJob(name)]);
  const runsOf = async (job: string) =>
    (await listRuns(test1.platform.database, { job, since: undefined, limit: 10 })).reverse();
  /** A run that never ends, as far as the database can tell; the answer ends it after all. */
  const hang = async (name: string, options: Partial<RunJobOptions> = {}) => {
    const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
    const outcome = run(name, {
      ...options,
      work: () => {
        started.resolve();
        return ended.promise;
      },
    });
    await started.promise;
    return async () => {
      ended.reject(new Error('it came back'));
      await outcome;
    };
  };

  test('a run that was cut off is run again once its lease is over, by one of all who look', async () => {
    const scheduledFor = new Date(test1.clock.now());
    const comeBack = await hang('killed', { scheduledFor });
    test1.clock.advance(LEASE_MS - 1);
    expect(await cutOff('killed')).toEqual([]);
    // The schedule does not help: that minute is taken, and the lease was still held.
    expect(await run('killed', { scheduledFor })).toMatchObject({ status: 'skipped' });
    test1.clock.advance(1);
    expect(await cutOff('killed')).toEqual(['killed']);

    const outcomes = [
      await run('killed', { takesOver: true }),
      await run('killed', { takesOver: true, work: () => Promise.reject(new Error('twice')) }),
    ];
    expect(outcomes).toEqual([
      { status: 'succeeded', result: { done: true } },
      { status: 'skipped', reason: 'another scheduler took it over' },
    ]);
    expect(await cutOff('killed')).toEqual([]);
    const [dead, successor] = await runsOf('killed');
    expect(dead).toMatchObject({
      status: 'failed',
      finishedAt: new Date(test1.clock.now()),
      error: `the process that ran it died; run ${successor?.jobRunId} took over`,
    });
    await comeBack();
  });

  test('whoever takes over may die as well', async () => {
    const first = await hang('killed-twice', { scheduledFor: new Date(test1.clock.now()) });
    test1.clock.advance(LEASE_MS);
    const second = await hang('killed-twice', { takesOver: true });
    expect(await cutOff('killed-twice')).toEqual([]);
    test1.clock.advance(LEASE_MS);
    expect(await cutOff('killed-twice')).toEqual(['killed-twice']);
    expect(await run('killed-twice', { takesOver: true })).toMatchObject({ status: 'succeeded' });
    for (const comeBack of [first, second]) await comeBack();
  });

  test('a run that has yet to take its lease is not cut off, one that never does is', async () => {
    const startedAt = new Date(test1.clock.now());
    await recordStart(test1.platform.database, {
      job: 'slow',
      scheduledFor: startedAt,
      startedAt,
      holder: 'a',
    });
    test1.clock.advance(LEASE_MS - 1);
    expect(await cutOff('slow')).toEqual([]);
    test1.clock.advance(1);
    expect(await cutOff('slow')).toEqual(['slow']);
  });

  test('what runs, ended or was skipped is not cut off', async () => {
    await run('ended');
    const comeBack = await hang('ended');
    expect(await run('ended')).toMatchObject({ status: 'skipped' });
    await comeBack();
    test1.clock.advance(2 * LEASE_MS);
    expect(await cutOff('ended')).toEqual([]);
  });

  test('it waits for what else the dead one held, as long as that can be held', async () => {
    const comeBack = await hang('locked', { scheduledFor: new Date(test1.clock.now()) });
    test1.clock.advance(LEASE_MS - 10_000);
    // The purge of a job has a lease of its own, and may have renewed it last.
    const dead = withLease(
      test1.platform,
      { name: 'its-purge', command: 'dead' },
      () => new Promise(() => {}),
    );
    dead.catch(() => {});
    test1.clock.advance(10_000);
    let attempts = 0;
    const purge = () => {
      if (++attempts > 1) test1.clock.advance(LEASE_MS - 10_000);
      return withLease(test1.platform, { name: 'its-purge', command: 'a test' }, async () => ({ attempts }));
    };
    expect(await run('locked', { takesOver: true, work: purge, retryMs: 1 })).toEqual({
      status: 'succeeded',
      result: { attempts: 2 },
    });
    await comeBack();

    const again = await hang('locked-for-good', { scheduledFor: new Date(test1.clock.now()) });
    test1.clock.advance(LEASE_MS);
    const outcome = await withLease(test1.platform, { name: 'its-purge', command: 'a person' }, (lease) =>
      run('locked-for-good', {
        takesOver: true,
        retryMs: 1,
        work: async () => {
          test1.clock.advance(LEASE_MS / 2);
          await lease.renew(test1.platform.database);
          return withLease(test1.platform, { name: 'its-purge', command: 'a test' }, async () => ({}));
        },
      }),
    );
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'LEASE_HELD' } });
    await again();
  });

  test('of two schedulers one takes over', { timeout: 60_000 }, async () => {
    // Workers have clocks of their own.
    const platform = { ...test1.platform, clock: systemClock };
    const startedAt = new Date(systemClock.now() - 2 * LEASE_MS);
    await recordStart(platform.database, {
      job: 'prune-notifications',
      scheduledFor: startedAt,
      startedAt,
      holder: 'a scheduler that was killed',
    });
    const schedulers: Scheduler[] = [];
    try {
      for (let count = 0; count < 2; count++) {
        schedulers.push(await startScheduler(platform, { lookEveryMs: 50 }));
      }
      await until(async () => (await runsOf('prune-notifications'))[1]?.finishedAt != null);
    } finally {
      await Promise.all(schedulers.map((scheduler) => scheduler.stop(5_000)));
    }
    const [dead, ...others] = await runsOf('prune-notifications');
    expect(dead).toMatchObject({ status: 'failed', error: expect.stringContaining('died') });
    expect(others.filter(({ status }) => status !== 'skipped')).toMatchObject([
      { status: 'succeeded', holder: expect.stringContaining('the scheduler, taking over') },
    ]);
  });
});
