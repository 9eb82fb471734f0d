// `svc purge pastes`: what is special about pastes.

import { type PurgePlan, planPurge, purgePastes } from '../../services/paste/purge-pastes.ts';
import { bytes } from '../byte-count.ts';
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
