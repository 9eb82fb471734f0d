// Pastes of 1 MiB, in content that is hard in different ways: created, read, shown and unlocked, one request at a
// time, while the server's own event loop tells how long it was held.
import { once } from 'node:events';
import { join } from 'node:path';
import type { LoopDelay } from '../support/loop-delay.ts';
import { type RunningServer, scratchFolder, startSvc } from '../support/processes.ts';
import { median, remark, report } from '../support/report.ts';

const MIB = 1_048_576;
const LIMIT_MS = 20;
// Others have the two cores too: a step that holds the loop by itself does so in every round, so the middle counts.
const ROUNDS = 6;

const CONTENTS: Record<string, string> = {
  'one long line': 'a'.repeat(MIB),
  'a line a character': 'a\n'.repeat(MIB / 2),
  'markup to escape': '<&"'.repeat(MIB / 3),
  'control characters': '\u0001'.repeat(MIB),
  emoji: '😀'.repeat(MIB / 4),
  code: 'export const answer: number = 42; // why\n'.repeat(MIB / 41),
};

export async function run(): Promise<void> {
  const scratch = scratchFolder();
  const server = await startSvc({
    env: { SVC_DATA_DIR: join(scratch.path, 'data') },
    nodeArgs: ['--import', new URL('../support/loop-delay.ts', import.meta.url).href],
  });
  try {
    const measured = new Map<string, LoopDelay[]>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, content] of Object.entries(CONTENTS)) {
        for (const escaping of ['plain', 'escaped'] as const) {
          for (const [step, delay] of await steps(server, content, escaping)) {
            // The first round warms the code up; what it holds the loop for is compilation.
            if (round === 0) continue;
            const key = `${step}, ${name}, ${escaping}`;
            measured.set(key, [...(measured.get(key) ?? []), delay]);
          }
        }
      }
    }
    const sorted = [...measured]
      .map(([name, delays]) => ({
        name,
        oursMs: median(delays.map(({ oursMs }) => oursMs)),
        worstMs: Math.max(...delays.map(({ maxMs }) => maxMs)),
      }))
      .sort((a, b) => b.oursMs - a.oursMs);
    const [longest] = sorted;
    if (!longest) throw new Error('nothing was measured');
    report({
      name: `longest hold of the event loop by a step of ours, of ${LIMIT_MS} ms`,
      ratio: longest.oursMs / LIMIT_MS,
      limit: { atMost: 1 },
      detail: `${longest.oursMs.toFixed(1)} ms in ${longest.name}`,
    });
    const single = Math.max(...sorted.map(({ worstMs }) => worstMs));
    remark(`longest single one, garbage collector and other processes included: ${single.toFixed(1)} ms`);
    for (const { name, oursMs, worstMs } of sorted.slice(0, 8)) {
      remark(`${oursMs.toFixed(1)} ms (longest single one ${worstMs.toFixed(1)}): ${name}`);
    }
  } finally {
    await server.stop();
    scratch.remove();
  }
}

async function steps(
  server: RunningServer,
  content: string,
  escaping: 'plain' | 'escaped',
): Promise<Array<[string, LoopDelay]>> {
  const write = escaping === 'plain' ? JSON.stringify : escapeAll;
  const measured: Array<[string, LoopDelay]> = [];
  const step = async (name: string, path: string, init?: RequestInit): Promise<Response> => {
    await held(server);
    const response = await fetch(server.url + path, init);
    const bytes = await response.clone().arrayBuffer();
    if (!response.ok || bytes.byteLength === 0) throw new Error(`${name}: ${response.status}`);
    measured.push([name, await held(server)]);
    return response;
  };
  const post = (body: string, type = 'application/json') => ({
    method: 'POST',
    body,
    headers: { 'content-type': type },
  });
  const create = (rest: string) =>
    post(`{"content":${write(content)},"language":"typescript","expiresIn":"1d"${rest}}`);

  const { pasteId } = (await (await step('create', '/api/pastes', create(''))).json()) as { pasteId: string };
  await step('read', `/api/pastes/${pasteId}`);
  await step('read again', `/api/pastes/${pasteId}`);
  await step('raw', `/raw/${pasteId}`);
  await step('show', `/${pasteId}`);
  await step('show again', `/${pasteId}`);
  const locked = (await (await step('create locked', '/api/pastes', create(',"password":"pw"'))).json()) as {
    pasteId: string;
  };
  await step('unlock', `/api/pastes/${locked.pasteId}/verify`, post('{"password":"pw"}'));
  await step(
    'unlock by form',
    `/${locked.pasteId}`,
    post('password=pw', 'application/x-www-form-urlencoded'),
  );
  const form = new URLSearchParams({ content, language: 'typescript', expiresIn: '1d' }).toString();
  await step('create by form', '/', post(form, 'application/x-www-form-urlencoded'));
  return measured;
}

/** Asks the server how long its loop was held since it was last asked. */
async function held({ child }: RunningServer): Promise<LoopDelay> {
  child.send('held');
  const [answer]: LoopDelay[] = await once(child, 'message');
  if (!answer) throw new Error('the server did not say');
  return answer;
}

function escapeAll(text: string): string {
  let escaped = '';
  for (let index = 0; index < text.length; index++)
    escaped += `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`;
  return `"${escaped}"`;
}
