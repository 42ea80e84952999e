import { DefaultReporter, type TestModule } from 'vitest/node'
import { survivors } from './run-marker.ts'

type RunEnd = Parameters<DefaultReporter['onTestRunEnd']>

export type Counts = { passed: number; failed: number; skipped: number }

/**
 * The usual report, then `N passed, N failed, N skipped` alone on the last line. A file or suite
 * that failed outside its tests counts as one failure, and so do an unhandled error and each
 * child process that is still alive at the end.
 */
export class CountingReporter extends DefaultReporter {
  override onTestRunEnd(...[modules, errors, reason]: RunEnd): void {
    super.onTestRunEnd(modules, errors, reason)
    const left = survivors()
    for (const { pid, command } of left) {
      console.error(`left alive by the tests, ended now: ${pid} ${command}`)
      process.kill(pid, 'SIGKILL')
    }
    const counts = countTests(modules)
    counts.failed += errors.length + left.length
    if (counts.failed > 0) process.exitCode = 1
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
  }
}

/** A suite that failed outside its tests is one failure; its tests that never ran count as skipped. */
export function countTests(modules: readonly TestModule[]): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      counts[state === 'pending' ? 'failed' : state] += 1
    }
    for (const suite of [module, ...module.children.allSuites()]) {
      if (suite.errors().length > 0) counts.failed += 1
    }
  }
  return counts
}
