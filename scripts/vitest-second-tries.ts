import type { Reporter, TestModule } from 'vitest/node';

/** Names at the end what failed at first, and why: a busy machine may miss a moment, but nobody should get used to it. */
export default class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const test of module.children.allTests('passed')) {
        if (!test.diagnostic()?.flaky) continue;
        const reason = test.result().errors?.[0]?.message.split('\n', 1)[0] ?? 'no reason known';
        console.log(`failed at first: ${module.relativeModuleId} > ${test.fullName}: ${reason}`);
      }
    }
  }
}
