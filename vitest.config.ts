import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { CountingReporter } from './test/support/reporter.ts'
import { runMarker } from './test/support/run-marker.ts'

// What runs is what ships: Node takes the types out by itself, and it and every process that a test starts
// keep the result where `bin/airproof.mjs` does. Half of a start's CPU time is that.
const compiled = fileURLToPath(new URL('node_modules/.cache/airproof', import.meta.url))
// oxlint-disable-next-line node/no-process-env -- the workers of the tests inherit it, and their children
process.env['NODE_COMPILE_CACHE'] ??= compiled

/** `test/<name>`; `npm run test:<name>` runs it alone. */
type More = {
  readonly isolate?: boolean
  readonly setupFiles?: string[]
  readonly exclude?: string[]
  readonly experimental?: { readonly viteModuleRunner: boolean }
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
        // pure, and started once per worker: loading modules for each file took longer than the tests.
        // Pages are TSX, which Node does not run by itself.
        tier('unit', {
          isolate: false,
          setupFiles: ['./test/support/page-texts.ts'],
          experimental: { viteModuleRunner: true },
        }),
        tier('contract'),
        // a whole city for two minutes, most of which other tests show too
        tier('stack', { exclude: soak ? [] : ['test/stack/secrets-page.test.ts'] }),
        tier('checks'),
      ],
      experimental: { viteModuleRunner: false },
      globalSetup: './test/support/files-in-memory.ts',
      setupFiles: ['./test/support/no-open-handles.ts', './test/support/fixed-seed.ts'],
      reporters: [new CountingReporter()],
      provide: { soak, drawsAnew: mode !== 'test' },
      // Children inherit it, so that one that outlives the run is found.
      env: { [runMarker.name]: runMarker.value },
      // Whole processes and real servers share the machine's cores with the tests, and also wait: with fewer a core is idle at times.
      maxWorkers: 4,
      // What hangs has to end. How fast anything is, no test says: the machine may be busy.
      testTimeout: soak ? 1_800_000 : 300_000,
      hookTimeout: 300_000,
      // a look in a page may wait for two minutes itself
      expect: { poll: { timeout: 180_000 } },
      teardownTimeout: 20_000,
    },
  }
})
