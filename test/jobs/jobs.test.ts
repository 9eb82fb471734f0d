import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lastRuns, listRuns, recordStart } from '../../src/jobs/history.ts';
import { jobs } from '../../src/jobs/jobs.ts';
import { runJob } from '../../src/jobs/run-job.ts';
import { startScheduler } from '../../src/jobs/scheduler.ts';
import { withLease } from '../../src/platform/lease.ts';
import { PURGE_LEASE, purgePastes } from '../../src/services/paste/purge-pastes.ts';
import { aPaste } from '../support/api.ts';
import { backends, type TestDatabase } from '../support/databases.ts';
import { type PasteServer, startPasteServer } from '../support/paste-server.ts';
import { openTestPlatform, type TestPlatform } from '../support/test-platform.ts';

const MINUTE = new Date('2026-01-31T12:00:00.000Z');

describe.each(backends())('jobs on $name', (backend) => {
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
  const aJob = (name: string) => ({ name, description: 'a test', cron: '* * * * *', timeLimitMs: 1_000 });
  const never = new AbortController().signal;

  test('a run is recorded with its start, end and result', async () => {
    const outcome = await runJob(test1.platform, {
      job: aJob('works'),
      command: 'a test',
      signal: never,
      work: async () => {
        test1.clock.advance(2_000);
        return { removed: 3 };
      },
    });
    expect(outcome).toEqual({ status: 'succeeded', result: { removed: 3 } });
    const [run] = await listRuns(test1.platform.database, { job: 'works', since: undefined, limit: 10 });
    expect(run).toMatchObject({
      status: 'succeeded',
      result: { removed: 3 },
      error: null,
      scheduledFor: null,
      holder: expect.stringContaining('a test (process'),
    });
    expect(Number(run?.finishedAt) - Number(run?.startedAt)).toBe(2_000);
  });

  test('a run that fails is recorded with its error', async () => {
    const outcome = await runJob(test1.platform, {
      job: aJob('fails'),
      command: 'a test',
      signal: never,
      work: async () => Promise.reject(new Error('no luck')),
    });
    expect(outcome).toMatchObject({ status: 'failed' });
    expect(await lastRuns(test1.platform.database)).toContainEqual(
      expect.objectContaining({ job: 'fails', status: 'failed', error: 'no luck' }),
    );
  });

  test('of two that race one runs and the other is skipped', async () => {
    let running = 0;
    const work = async () => {
      expect(++running).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 100));
      running--;
      return {};
    };
    const run = () => runJob(test1.platform, { job: aJob('raced'), command: 'a test', signal: never, work });
    const outcomes = await Promise.all([run(), run(), run()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['skipped', 'skipped', 'succeeded']);
  });

  test('two schedulers run a job once for a minute of the schedule', async () => {
    let runs = 0;
    const run = () =>
      runJob(test1.platform, {
        job: aJob('scheduled'),
        command: 'a test',
        signal: never,
        scheduledFor: MINUTE,
        work: async () => ({ runs: ++runs }),
      });
    expect([(await run()).status, (await run()).status, runs]).toEqual(['succeeded', 'skipped', 1]);
  });

  test('a run whose process died is closed by the next one', async () => {
    const { database: db } = test1.platform;
    const now = test1.clock.now();
    const begun = (agoMs: number) =>
      recordStart(db, {
        job: 'died',
        scheduledFor: undefined,
        startedAt: new Date(now - agoMs),
        holder: 'gone',
      });
    await begun(60_000);
    // This one may be about to find out that the lease is held.
    await begun(59_999);
    await runJob(test1.platform, {
      job: aJob('died'),
      command: 'a test',
      signal: never,
      work: async () => ({}),
    });
    const runs = await listRuns(db, { job: 'died', since: undefined, limit: 10 });
    const [successor] = runs;
    expect(runs.map(({ status, error }) => [status, error])).toEqual([
      ['succeeded', null],
      ['running', null],
      ['failed', `the process that ran it died; run ${successor?.jobRunId} took over`],
    ]);
  });

  test('a run is over, by its record too, before the next one can begin', async () => {
    const { database: db } = test1.platform;
    const run = () =>
      runJob(test1.platform, {
        job: aJob('twice'),
        command: 'a test',
        signal: never,
        takesOver: true,
        work: async () => ({}),
      });
    const startedAt = new Date(test1.clock.now() - 60_000);
    await recordStart(db, { job: 'twice', scheduledFor: undefined, startedAt, holder: 'gone' });
    const outcomes = await Promise.all(Array.from({ length: 8 }, run));
    expect(outcomes.filter(({ status }) => status === 'succeeded')).toHaveLength(1);
    expect(outcomes.filter(({ status }) => status === 'skipped')).toHaveLength(7);
  });

  test('every job of the schedule has a file that runs', async () => {
    for (const job of jobs) {
      expect(await runJob(test1.platform, { job, command: 'a test', signal: never })).toMatchObject({
        status: 'succeeded',
      });
    }
  });

  test('the scheduler starts a worker that works in the database, and stops in time', {
    timeout: 30_000,
  }, async () => {
    const scheduler = await startScheduler(test1.platform);
    await scheduler.run('purge-pastes');
    await expect
      .poll(
        async () =>
          (await listRuns(test1.platform.database, { job: 'purge-pastes', since: undefined, limit: 5 })).map(
            ({ status, holder }) => [status, holder.split(' (')[0]],
          ),
        { timeout: 20_000 },
      )
      .toContainEqual(['succeeded', 'the scheduler']);
    const startedAt = performance.now();
    await scheduler.stop(5_000);
    expect(performance.now() - startedAt).toBeLessThan(6_000);
  });
});

describe.each(backends())('purging on $name', (backend) => {
  let server: PasteServer;
  beforeAll(async () => {
    server = await startPasteServer({ backend });
  });
  afterAll(() => server.close());
  const create = (fields: Record<string, unknown>) =>
    fetch(`${server.url}/api/pastes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(aPaste(fields)),
    });
  const left = async () =>
    (await server.platform.database.selectFrom('paste').select('pasteId').execute()).length;

  test('removes what has expired and nothing else, in batches that can be interrupted and resumed', async () => {
    await Promise.all(Array.from({ length: 300 }, () => create({ expiresIn: '10min' })));
    await Promise.all(Array.from({ length: 5 }, () => create({ expiresIn: '1y' })));
    server.clock.advance(600_000);

    const stop = new AbortController();
    const interrupted = await purgePastes(server.platform, {
      command: 'a test',
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    expect(interrupted.complete).toBe(false);
    expect(await left()).toBe(305 - interrupted.pastes);

    expect(await purgePastes(server.platform, { command: 'a test', olderThanMs: 1 })).toMatchObject({
      pastes: 0,
    });
    const rest = await purgePastes(server.platform, { command: 'a test' });
    expect(rest).toEqual({
      pastes: 300 - interrupted.pastes,
      contentBytes: 5 * (300 - interrupted.pastes),
      complete: true,
    });
    expect(await left()).toBe(5);
  });

  test('does not run while another does', async () => {
    await withLease(server.platform, { name: PURGE_LEASE, command: 'another purge' }, async () => {
      await expect(purgePastes(server.platform, { command: 'a test' })).rejects.toMatchObject({
        code: 'LEASE_HELD',
        exit: 11,
        message: expect.stringContaining('another purge (process'),
      });
    });
  });
});
