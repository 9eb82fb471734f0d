// Makes the empty database that a first start of `svc serve` copies. Run by the build; by hand: node scripts/prepare-embedded.ts
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareTemplate } from '../src/platform/embedded/template.ts';

/** Makes `dist/embedded-template` of this repository. */
export async function prepareEmbedded(): Promise<void> {
  await prepareTemplate(fileURLToPath(new URL('../dist/embedded-template', import.meta.url)));
}

if (process.argv[1] !== undefined && join(process.argv[1]) === fileURLToPath(import.meta.url))
  await prepareEmbedded();
