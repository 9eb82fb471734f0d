// Ends a run with `N passed, N failed`. With CI=true a skipped test is a failure, and is named.
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const tests: TestCase[] = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: 'passed' | 'failed' | 'skipped') =>
      tests.filter((test) => test.result().state === state);
    const skipped = inState('skipped');
    const brokenModules = modules.filter(
      (module) => module.state() === 'failed' && module.errors().length > 0,
    );
    let failed = inState('failed').length + brokenModules.length + unhandled.length;
    for (const test of skipped)
      process.stdout.write(
        `skipped: ${test.module.moduleId.replace(/.*\/test\//, 'test/')} > ${test.fullName}\n`,
      );
    if (process.env.CI === 'true' && skipped.length > 0) {
      failed += skipped.length;
      process.exitCode = 1;
      process.stdout.write('CI=true: a skipped test is a failure\n');
    }
    process.stdout.write(`${inState('passed').length} passed, ${failed} failed\n`);
  }
}
