import { fileURLToPath } from 'node:url'
import type { ProcessSpec } from '../../../cli/up/process.ts'

const script = fileURLToPath(new URL('process.ts', import.meta.url))

/** A process for the supervisor that notes its start and stop in the journal. */
export const standIn = (name: string, journal: string, exitCode?: number): ProcessSpec => ({
  name,
  args: [script, name, journal, ...(exitCode === undefined ? [] : [String(exitCode)])],
  hasAdmin: exitCode === undefined,
})
