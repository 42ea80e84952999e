import { defineConfig } from 'vitest/config'
import { CountingReporter } from './test/support/reporter.ts'
import { runMarker } from './test/support/run-marker.ts'

/**
 * `--mode soak` asks for the long forms of the tests that have one: `inject('soak')` is then true.
 * It and `--mode fuzz` draw the properties from a new seed.
 */
export default defineConfig(({ mode }) => {
  const soak = mode === 'soak'
  return {
    test: {
      include: ['test/{unit,contract,stack}/**/*.test.ts'],
      setupFiles: ['./test/support/no-open-handles.ts', './test/support/fixed-seed.ts'],
      reporters: [new CountingReporter()],
      provide: { soak, drawsAnew: mode !== 'test' },
      // Children inherit it, so that one that outlives the run is found.
      env: { [runMarker.name]: runMarker.value },
      // Whole processes and real servers share the machine's cores with the tests.
      maxWorkers: 2,
      testTimeout: soak ? 1_800_000 : 60_000,
      hookTimeout: 60_000,
      teardownTimeout: 20_000,
      // Real servers on a machine that others use too; the reporter says what needed it.
      retry: mode === 'test' ? 2 : 0,
    },
  }
})
