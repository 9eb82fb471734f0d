// What nobody will look for any more goes in batches, under the job's lease, and can be interrupted.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run as pruneHistory } from '../../src/jobs/prune-job-history.ts';
import { run as pruneNotifications } from '../../src/jobs/prune-notifications.ts';
import type { JobContext, JobRun } from '../../src/jobs/run-job.ts';
import { backends } from '../support/databases.ts';
import { furnish, invite, type KanbanServer, startKanbanServer } from '../support/kanban-server.ts';

describe.each(backends())('pruning on $name', (backend) => {
  let server: KanbanServer;
  beforeAll(async () => {
    server = await startKanbanServer({ backend });
  });
  afterAll(() => server.close());

  /** Runs a job; it is told to stop in the batch of that number. */
  const prune = async (work: JobRun, stopIn: number) => {
    const stop = new AbortController();
    let batches = 0;
    const lease: JobContext['lease'] = {
      token: 'a test',
      renew: async () => {
        if (++batches === stopIn) stop.abort();
      },
    };
    const context = { command: 'a test', signal: stop.signal, lease, isContinuous: false };
    return { ...(await work(server.platform, context)), batches };
  };

  test('notifications of more than 90 days ago', async () => {
    const home = await furnish(server);
    const member = await invite(server, home);
    await home.owner.post(`/cards/${home.cardId}/assignments`, { userId: member.id });
    await sql`
      INSERT INTO notification (id, account_id, kind, board_id, card_id, actor_id, created_at)
      SELECT id || lpad(number::text, 4, '0'), account_id, kind, board_id, card_id, actor_id,
        created_at - interval '91 days'
      FROM notification, generate_series(1, 1200) AS number`.execute(server.platform.database);

    expect(await prune(pruneNotifications, 2)).toEqual({ notifications: 1_000, complete: false, batches: 2 });
    expect(await prune(pruneNotifications, 9)).toEqual({ notifications: 200, complete: true, batches: 1 });
    expect((await member.get('/me/notifications')).body.items).toHaveLength(1);
  });

  test('runs of jobs that ended more than 30 days ago', async () => {
    const now = new Date(server.clock.now());
    await sql`
      INSERT INTO job_run (job, started_at, finished_at, status, holder)
      SELECT 'old', ended, ended, 'succeeded', 'a test'
      FROM generate_series(1, 1200) AS number, LATERAL (
        SELECT ${now}::timestamptz - interval '30 days' - number * interval '1 second' AS ended) AS moment
      UNION ALL VALUES ('new', ${now}::timestamptz, ${now}::timestamptz, 'succeeded', 'a test'),
        ('running', ${now}::timestamptz - interval '40 days', NULL, 'running', 'a test')`.execute(
      server.platform.database,
    );

    expect(await prune(pruneHistory, 2)).toEqual({ runs: 1_000, complete: false, batches: 2 });
    expect(await prune(pruneHistory, 9)).toEqual({ runs: 200, complete: true, batches: 1 });
    const left = await server.platform.database.selectFrom('jobRun').select('job').orderBy('job').execute();
    expect(left).toEqual([{ job: 'new' }, { job: 'running' }]);
  });
});
