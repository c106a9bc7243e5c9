import type { Reporter, TestModule } from 'vitest/node';

/** Lists the tests that passed only on a retry, with the first failure, so that they are not forgotten. */
export default class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const test of module.children.allTests('passed')) {
        if (!test.diagnostic()?.flaky) continue;
        const reason = test.result().errors?.[0]?.message.split('\n', 1)[0] ?? 'unknown reason';
        console.log(`failed at first: ${module.relativeModuleId} > ${test.fullName}: ${reason}`);
      }
    }
  }
}
