import { readdirSync, readFileSync } from 'node:fs'

/** An environment variable that every process started by this test run carries. */
export const runMarker = { name: 'AIRPROOF_TEST_RUN', value: `${process.pid}-${Date.now()}` }

type Survivor = { readonly pid: number; readonly command: string }

/**
 * The processes that carry the marker of a run and are not test workers themselves.
 * Reads `/proc`, so it finds nothing on a system without it.
 */
export function survivors({ name, value } = runMarker): Survivor[] {
  return processIds().flatMap((pid) => {
    const environment = readProc(pid, 'environ')
    if (!environment.split('\0').includes(`${name}=${value}`)) return []
    const command = readProc(pid, 'cmdline').replaceAll('\0', ' ').trim()
    return command === '' || command.includes('/vitest/dist/') ? [] : [{ pid, command }]
  })
}

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

/** Empty if the process has exited meanwhile, or may not be read. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
