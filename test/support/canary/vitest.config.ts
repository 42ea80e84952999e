import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { CountingReporter } from '../reporter.ts'
import { runMarker } from '../run-marker.ts'

/** Test files that go wrong on purpose, so that what watches over a run is seen to notice. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    include: ['*.canary.ts'],
    setupFiles: [fileURLToPath(new URL('../no-open-handles.ts', import.meta.url))],
    reporters: [new CountingReporter()],
    env: { [runMarker.name]: runMarker.value },
  },
})
