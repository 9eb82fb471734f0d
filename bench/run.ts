// `npm run bench -- <service> [part ...]`: runs the benchmarks of a service; each prints ratios measured in its own run.
import { readdirSync } from 'node:fs';

const [service, ...parts] = process.argv.slice(2);
const services = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['peers', 'support'].includes(entry.name))
  .map((entry) => entry.name);
if (service === undefined || !services.includes(service)) {
  process.stderr.write(`Usage: npm run bench -- <service> [part ...]\nServices: ${services.join(', ')}\n`);
  process.exitCode = 2;
} else {
  const folder = new URL(`./${service}/`, import.meta.url);
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .sort();
  for (const file of files) {
    const part = file.replace(/^\d+-|\.ts$/g, '');
    if (parts.length > 0 && !parts.includes(part)) continue;
    process.stdout.write(`\n## ${service}: ${part}\n`);
    const { run }: { run: () => Promise<void> } = await import(new URL(file, folder).href);
    await run();
  }
}
