import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    maxWorkers: 3,
    // For what hangs; a machine may be slow, above all the first time that Chromium starts.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
