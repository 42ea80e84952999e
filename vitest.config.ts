import { defineConfig } from 'vitest/config'
import { CountingReporter } from './test/support/reporter.ts'
import { runMarker } from './test/support/run-marker.ts'

/** `test/<name>`; `npm run test:<name>` runs it alone. */
type More = {
  readonly isolate?: boolean
  readonly setupFiles?: string[]
  readonly exclude?: string[]
}
const tier = (name: string, more: More = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...more },
})

/**
 * `--mode soak` asks for the long forms of the tests that have one: `inject('soak')` is then true.
 * It and `--mode fuzz` draw the properties from a new seed.
 */
export default defineConfig(({ mode }) => {
  const soak = mode === 'soak'
  return {
    test: {
      projects: [
        // pure, and started once per worker: loading modules for each file took longer than the tests
        tier('unit', { isolate: false, setupFiles: ['./test/support/page-texts.ts'] }),
        tier('contract'),
        // a whole city for two minutes, most of which other tests show too
        tier('stack', { exclude: soak ? [] : ['test/stack/secrets-page.test.ts'] }),
        tier('checks'),
      ],
      globalSetup: './test/support/files-in-memory.ts',
      setupFiles: ['./test/support/no-open-handles.ts', './test/support/fixed-seed.ts'],
      reporters: [new CountingReporter()],
      provide: { soak, drawsAnew: mode !== 'test' },
      // Children inherit it, so that one that outlives the run is found.
      env: { [runMarker.name]: runMarker.value },
      // Whole processes and real servers share the machine's cores with the tests, and mostly wait.
      maxWorkers: 3,
      testTimeout: soak ? 1_800_000 : 60_000,
      hookTimeout: 60_000,
      teardownTimeout: 20_000,
    },
  }
})
