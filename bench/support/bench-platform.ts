// The platform of the daemons under test, in the process of the benchmark.
import { makeConfig } from '../../src/platform/config/config.ts';
import { loadSettings } from '../../src/platform/config/load.ts';
import { createLog } from '../../src/platform/log.ts';
import { openPlatform, type Platform } from '../../src/platform/platform.ts';
import { SECRET } from './processes.ts';

/** Opens it with the settings that the daemons have. */
export async function openBenchPlatform(env: Record<string, string>): Promise<Platform> {
  const { values } = loadSettings({ environment: { SVC_SECRET: SECRET, ...env } });
  return openPlatform({
    config: makeConfig(values, 'command'),
    command: 'a benchmark',
    log: await createLog({ level: 'silent' }),
  });
}
