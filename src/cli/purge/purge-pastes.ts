// `svc purge pastes`: what is special about pastes.
import { type PurgePlan, planPurge, purgePastes } from '../../services/paste/purge-pastes.ts';
import type { PurgeKind } from './run-purge.ts';

export const PASTES: PurgeKind<PurgePlan, { pastes: number; contentBytes: number }> = {
  commandName: 'svc purge pastes',
  plan: planPurge,
  isEmpty: ({ pastes }) => pastes === 0,
  describe: ({ pastes, contentBytes, oldest, newest }) =>
    pastes === 0 || !oldest || !newest
      ? 'nothing: no paste has expired'
      : `${pastes} pastes, ${bytes(contentBytes)}, expired between ${oldest.toISOString()} and ${newest.toISOString()}`,
  purge: purgePastes,
  summarize: ({ pastes, contentBytes }) => `${pastes} pastes, ${bytes(contentBytes)}`,
};

/** 312 bytes, 1.5 KiB, 1.0 MiB */
export function bytes(count: number): string {
  if (count < 1024) return `${count} bytes`;
  return count < 1024 ** 2 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1024 ** 2).toFixed(1)} MiB`;
}
