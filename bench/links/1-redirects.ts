// Redirects with every click recorded, on PostgreSQL and Redis, against a bare handler that records nothing.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import {
  durablePostgres,
  privateRedis,
  type RunningServer,
  startPeer,
  startSvc,
  svc,
} from '../support/processes.ts';
import { loadRedirects, type RedirectLoad, type RedirectLoadResult } from '../support/redirect-load.ts';
import { median, remark, report } from '../support/report.ts';

const MANY_LINKS = 1_000_000;
const VISITORS = 10_000;
const ROUNDS = 3;
const SECONDS = 6;
const SETTLED_WITHIN_MS = 10_000;

type Next = RedirectLoad['next'];

export async function run(): Promise<void> {
  const [postgres, redis] = [await durablePostgres(), await privateRedis()];
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, TRUST_PROXY: '1' };
  await svc(['migrate', 'up'], env);
  const database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  await fill(database);
  const ours = await startSvc({ env, args: ['--only', 'links'] });
  const bare = await startPeer('bare-redirect.ts', { LINKS: String(MANY_LINKS) });
  try {
    const oneVisitor = `user-agent: ${agentOf(0)}\r\n`;
    const visitors = Array.from({ length: VISITORS }, (_, index) =>
      [
        `user-agent: ${agentOf(index)}`,
        `x-forwarded-for: 203.${index % 113}.${(index >> 8) & 255}.${index & 255}`,
        `referer: https://site${index % 997}.example/page/${index}`,
        '',
      ].join('\r\n'),
    );
    let turn = 0;
    const one: Next = () => ({ path: `/${codeOf(0)}`, headers: oneVisitor });
    const many: Next = () => {
      turn = (turn + 1) % VISITORS;
      return { path: `/${codeOf(turn % 100)}`, headers: visitors[turn] ?? '' };
    };
    const spread: Next = () => ({
      path: `/${codeOf(Math.floor(Math.random() * MANY_LINKS))}`,
      headers: oneVisitor,
    });
    await compare('one visitor, one link', one, 0.6);
    await compare(`${VISITORS} visitors, 100 links`, many, 0.4);
    await compare(`one visitor, ${MANY_LINKS} links`, spread, 0.3);
  } finally {
    await ours.stop();
    await bare.stop();
    await database.end();
    await redis.remove();
    await postgres.remove();
  }

  async function compare(name: string, next: Next, atLeast: number): Promise<void> {
    // A round to warm both up: what they compile, cache and connect.
    await loadRedirects({ url: bare.url, next, seconds: 2 });
    const atFirst = await clicks();
    await settle(await loadRedirects({ url: ours.linksUrl, next, seconds: 3 }), atFirst);
    const rounds: Array<{ mine: RedirectLoadResult; theirs: RedirectLoadResult; settleMs: number }> = [];
    const memoryBefore = memoryOf(ours);
    for (let round = 0; round < ROUNDS; round++) {
      const theirs = await loadRedirects({ url: bare.url, next, seconds: SECONDS });
      const before = await clicks();
      const mine = await loadRedirects({ url: ours.linksUrl, next, seconds: SECONDS });
      rounds.push({ mine, theirs, settleMs: await settle(mine, before) });
    }
    const memoryAfter = memoryOf(ours);
    const mine = median(rounds.map((round) => round.mine.perSecond));
    const theirs = median(rounds.map((round) => round.theirs.perSecond));
    report({
      name,
      ratio: mine / theirs,
      limit: { atLeast },
      detail: `${mine.toFixed(0)}/s, bare ${theirs.toFixed(0)}/s`,
    });
    const [myP99, theirP99] = [
      median(rounds.map((round) => round.mine.p99Ms)),
      median(rounds.map((round) => round.theirs.p99Ms)),
    ];
    report({
      name: `${name}, p99`,
      ratio: myP99 / theirP99,
      limit: { atMost: 2 },
      detail: `${myP99.toFixed(1)} ms, bare ${theirP99.toFixed(1)} ms`,
    });
    const settled = rounds.map((round) => `${round.settleMs.toFixed(0)} ms`).join(', ');
    remark(
      `every click in the tables ${settled} after the last answer; memory ${memoryBefore} → ${memoryAfter} MiB`,
    );
  }

  /** Waits until every click is counted; answers how long that took. */
  async function settle({ redirects: ok }: RedirectLoadResult, before: number): Promise<number> {
    const startedAt = performance.now();
    while (performance.now() - startedAt < SETTLED_WITHIN_MS) {
      if ((await clicks()) - before >= ok) return performance.now() - startedAt;
      await pause(20);
    }
    throw new Error(`${ok} redirects were answered, ${(await clicks()) - before} clicks are in the tables`);
  }

  async function clicks(): Promise<number> {
    const { rows } = await database.query(
      "SELECT coalesce(sum(clicks), 0)::bigint AS sum FROM click_name_count WHERE dimension = 'device'",
    );
    return Number(rows[0].sum);
  }
}

function codeOf(index: number): string {
  return `b${index.toString(36).padStart(6, '0')}`;
}

function agentOf(index: number): string {
  return `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${100 + (index % 40)}.0.${index}.0 Safari/537.36`;
}

function memoryOf({ child }: RunningServer): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

async function fill(database: pg.Client): Promise<void> {
  const codes = Array.from({ length: MANY_LINKS }, (_, index) => codeOf(index));
  for (let start = 0; start < MANY_LINKS; start += 100_000) {
    await database.query(
      `INSERT INTO link (short_code, original_url, created_at)
       SELECT code, 'https://example.com/some/long/path/' || (ordinality - 1 + $2) || '?utm_source=bench', now()
       FROM unnest($1::text[]) WITH ORDINALITY AS t (code, ordinality)`,
      [codes.slice(start, start + 100_000), start],
    );
  }
  await database.query('VACUUM ANALYZE link');
}
