import type { Reporter, TestModule } from 'vitest/node';

/** Names at the end what failed at first: a busy machine may miss a moment, but nobody should get used to it. */
export default class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const test of module.children.allTests('passed')) {
        if (test.diagnostic()?.flaky) console.log(`failed at first: ${module.relativeModuleId} > ${test.fullName}`);
      }
    }
  }
}
