// graphile-worker 0.17 with a task that posts the body of a job. Jobs are added first, then the time is taken that
// working them off takes. TUNED=1 uses the local queue.
import { makeWorkerUtils, run, runMigrations } from 'graphile-worker';
import { Agent, request } from 'undici';

const { DATABASE_URL, SINK, JOBS, TUNED, CONNECTIONS } = process.env;
const dispatcher = new Agent({ connections: Number(CONNECTIONS), pipelining: 1 });
await runMigrations({ connectionString: DATABASE_URL });
const utils = await makeWorkerUtils({ connectionString: DATABASE_URL });
await utils.withPgClient((client) =>
  client.query(
    `SELECT graphile_worker.add_jobs(array(
      SELECT json_populate_record(NULL::graphile_worker.job_spec,
        json_build_object('identifier', 'post', 'payload', json_build_object('number', n)))
      FROM generate_series(1, $1::int) AS n))`,
    [Number(JOBS)],
  ),
);
const body = process.env.BODY;
let done = 0;
const finished = Promise.withResolvers();
const startedAt = performance.now();
const runner = await run({
  connectionString: DATABASE_URL,
  noHandleSignals: true,
  taskList: {
    post: async () => {
      const answer = await request(SINK, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        dispatcher,
      });
      await answer.body.dump();
      if (++done === Number(JOBS)) finished.resolve();
    },
  },
  logger: undefined,
  ...(TUNED === '1'
    ? {
        preset: {
          worker: {
            localQueue: { size: 500 },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
            concurrentJobs: Number(CONNECTIONS),
            maxPoolSize: Number(CONNECTIONS),
          },
        },
      }
    : {}),
});
await finished.promise;
process.send({ perSecond: done / ((performance.now() - startedAt) / 1000) });
await runner.stop();
await utils.release();
process.exit(0);
