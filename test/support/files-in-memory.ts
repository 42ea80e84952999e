/**
 * Of a whole run, before its first test: the temporary folders of all tests are in memory where the
 * machine has room there. Databases and streams wait for their disk at each write, which is half of the
 * time of many tests and proves nothing: what a process was killed in the middle of is in the
 * system's memory either way. A test that needs a disk asks `inject('disk')` for a folder on one.
 * `TMPDIR` names another place, which is then used.
 */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

const memory = '/dev/shm'
/** What the largest tests of all workers together write, several times over. */
const leastRoomBytes = 4 * 2 ** 30

let folder = ''

export function setup(project: TestProject): void {
  // oxlint-disable-next-line node/no-process-env -- what the workers and their processes inherit
  const { env } = process
  const disk = tmpdir()
  const isInMemory = env['TMPDIR'] === undefined && hasRoom()
  folder = mkdtempSync(join(isInMemory ? memory : disk, 'airproof-run-'))
  if (isInMemory) env['TMPDIR'] = folder
  project.provide('disk', disk)
  project.provide('ofRun', folder)
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true })
}

/** Some systems have no such folder, and a container usually a small one. */
function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= leastRoomBytes
  } catch {
    return false
  }
}
