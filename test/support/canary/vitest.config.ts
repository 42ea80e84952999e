import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { CountingReporter } from '../reporter.ts'
import { runMarker } from '../run-marker.ts'

/** Test files that fail on purpose, to show that the checks of a run notice it. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    include: ['*.canary.ts'],
    setupFiles: [fileURLToPath(new URL('../no-open-handles.ts', import.meta.url))],
    reporters: [new CountingReporter()],
    env: { [runMarker.name]: runMarker.value },
  },
})
