// The rules of the house that a reader should not have to remember: which way imports run, and how large a file gets.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Import {
  from: string;
  to: string;
}

const files = globSync('{src,migrations}/**/*.ts', { cwd: root }).sort();
const imports: Import[] = files.flatMap((from) =>
  [...readFileSync(join(root, from), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(
    (match) => ({
      from,
      to: relative(root, join(root, dirname(from), match[1] ?? '')),
    }),
  ),
);

const inside = (path: string, ...folders: string[]) =>
  folders.some((folder) => path.startsWith(`${folder}/`));
const roomOf = (path: string) => path.split('/').slice(0, 3).join('/');

/** Imports from one floor that lead anywhere but to the floors below it. */
function climbing(folder: string, allowed: (edge: Import) => boolean): string[] {
  return imports
    .filter(({ from, to }) => inside(from, folder) && !inside(to, folder))
    .filter((edge) => !allowed(edge))
    .map(({ from, to }) => `${from} → ${to}`);
}

test('the walk sees the modules and their imports', () => {
  expect(files.length).toBeGreaterThan(120);
  expect(imports.length).toBeGreaterThan(400);
  expect(imports).toContainEqual({ from: 'src/cli/main.ts', to: 'src/cli/commands/serve.ts' });
  expect(imports.filter(({ to }) => !files.includes(to)).map(({ from, to }) => `${from} → ${to}`)).toEqual(
    [],
  );
});

describe('imports run downwards only', () => {
  test('platform stands on nothing of ours', () => {
    expect(climbing('src/platform', () => false)).toEqual([]);
  });

  test('services stand on the platform, and never on each other', () => {
    expect(climbing('src/services', ({ to }) => inside(to, 'src/platform'))).toEqual([]);
    const across = imports.filter(
      ({ from, to }) =>
        inside(from, 'src/services') && inside(to, 'src/services') && roomOf(from) !== roomOf(to),
    );
    expect(across).toEqual([]);
  });

  test('no door imports another, but for the commands that start them', () => {
    const below = ({ to }: Import) => inside(to, 'src/services', 'src/platform');
    expect(climbing('src/server', below)).toEqual([]);
    expect(climbing('src/jobs', below)).toEqual([]);
    expect(
      climbing('src/cli', (edge) => {
        if (below(edge) || inside(edge.to, 'migrations')) return true;
        if (inside(edge.from, 'src/cli/serve')) return inside(edge.to, 'src/server', 'src/jobs');
        return inside(edge.from, 'src/cli/jobs') && inside(edge.to, 'src/jobs');
      }),
    ).toEqual([]);
  });

  test('what the servers share knows none of them, and they do not know each other', () => {
    const shared = ['src/server/http', 'src/server/pages'];
    const doors = ['src/server/paste', 'src/server/links'];
    const amongServers = imports.filter(
      ({ from, to }) =>
        inside(from, ...shared, ...doors) && inside(to, ...doors) && roomOf(from) !== roomOf(to),
    );
    expect(amongServers).toEqual([]);
    expect(climbing('src/server/pages', () => false)).toEqual([]);
  });

  test('there are no circles', () => {
    const next = Map.groupBy(imports, ({ from }) => from);
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (file: string, path: string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      if (path.includes(file) || done.has(file)) return;
      for (const { to } of next.get(file) ?? []) walk(to, [...path, file]);
      done.add(file);
    };
    for (const file of files) walk(file, []);
    expect(circles).toEqual([]);
  });
});

describe('what a floor may know', () => {
  const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

  test('services know no request, reply, console or exit', () => {
    const pattern = /from 'fastify'|console\.|process\.exit|process\.stdout|process\.stderr/;
    expect(files.filter((file) => inside(file, 'src/services') && pattern.test(textOf(file)))).toEqual([]);
  });

  test('SQL lives in services, the platform and the history of jobs', () => {
    const pattern = /\b(selectFrom|insertInto|updateTable|deleteFrom)\(/;
    const others = files.filter(
      (file) => !inside(file, 'src/services', 'src/platform', 'migrations') && file !== 'src/jobs/history.ts',
    );
    expect(others.filter((file) => pattern.test(textOf(file)))).toEqual([]);
  });

  test('parameters never become part of the text of a statement', () => {
    expect(files.filter((file) => /sql\.raw\(/.test(textOf(file)))).toEqual([]);
  });

  test('a file is one idea: under 320 lines', () => {
    expect(files.filter((file) => textOf(file).split('\n').length > 320)).toEqual([]);
  });

  test('the terminal loads its command tree and nothing else', () => {
    const light = new Set<string>();
    const visit = (file: string): void => {
      if (light.has(file)) return;
      light.add(file);
      for (const match of textOf(file).matchAll(/^(?:import|export)(?! type)[^;]*? from '(\.[^']+)'/gm)) {
        visit(relative(root, join(root, dirname(file), match[1] ?? '')));
      }
    };
    visit('src/cli/main.ts');
    const packages = [...light].flatMap((file) =>
      [...textOf(file).matchAll(/^import(?! type)[^;]*? from '([^.'][^']*)'/gm)].map(
        (match) => match[1] ?? '',
      ),
    );
    expect([...new Set(packages)].filter((name) => !name.startsWith('node:'))).toEqual(['commander']);
  });
});
