import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** Names the tests that passed only when repeated, then ends with `N passed, N failed` alone on a line, for scripts. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const failedBefore = count.failed;
      for (const test of module.children.allTests()) {
        count[test.result().state]++;
        if (test.diagnostic()?.flaky === true)
          process.stdout.write(`\npassed when repeated: ${test.fullName}`);
      }
      // A file that does not load, or fails outside its tests, has no failed test to count.
      if (module.state() === "failed" && count.failed === failedBefore) count.failed++;
    }
    const notRun = count.skipped + count.pending;
    const skipped = notRun > 0 ? `, ${notRun} skipped` : "";
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`);
  }
}
