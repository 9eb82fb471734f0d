// The structure test alone, without the servers that other tests need: a step of `npm run check`.
import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { include: ['test/structure.test.ts'] } });
