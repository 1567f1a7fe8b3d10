import type { Reporter, TestModule } from 'vitest/node';

/** Lists at the end of a run what `describeWith` skipped, and what this machine lacks for it. */
export default class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const suite of module.children.allSuites()) {
        const { skipped } = suite.meta();
        if (skipped === undefined) continue;
        const { name, missing } = skipped;
        process.stdout.write(`skipped: ${module.relativeModuleId} > ${name}: ${missing}\n`);
      }
    }
  }
}
