import { expect, it, vi } from 'vitest';
import { createLookout } from '../../../../src/services/kanban/webhooks/dispatch/lookout.ts';

const HOUR = 3_600_000;

it('looks at everything first, then at what it is told of, once', () => {
  const lookout = createLookout(HOUR);
  lookout.lookAt(['a']);
  expect(lookout.take()).toBeUndefined();
  expect(lookout.take()).toEqual([]);
  lookout.lookAt(['a', 'b']);
  lookout.lookAt(['a']);
  expect(lookout.take()).toEqual(['a', 'b']);
  expect(lookout.take()).toEqual([]);
});

it('looks at everything when it is told to, and again after a while', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const lookout = createLookout(1_000);
    expect(lookout.take()).toBeUndefined();
    lookout.lookAtAll();
    expect(lookout.take()).toBeUndefined();
    vi.advanceTimersByTime(999);
    expect(lookout.take()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(lookout.take()).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

it('waits until there is something to look at; what came before is not slept through', async () => {
  const lookout = createLookout(HOUR);
  lookout.take();
  lookout.lookAt(['a']);
  await lookout.wait();
  const woken = lookout.wait();
  lookout.lookAtAll();
  await woken;
  await lookout.wait(1);
});
