/** What this machine knows of an instance, whether NATS answers or not. */

import { leastRoomBytes, mebibytes, roomBytesOf } from '../../runtime/machine/data-folder.ts'
import { isRunning, type ListedProcess, listProcesses } from '../../runtime/machine/process-list.ts'
import type { RunningInstance } from '../../runtime/machine/running-instance.ts'
import { notReadyInWords } from '../../runtime/process/admin.ts'

/** A busy process answers late; a frozen one never does. */
const answerWithinMs = 3_000

/** @returns lines: processes that run, that are gone and that are not ready, and a full disk */
export async function lookAround(
  dataFolder: string,
  instance: Pick<RunningInstance, 'pids'> | undefined,
): Promise<readonly string[]> {
  const listed = listProcesses(dataFolder)
  const pids = Object.entries(instance?.pids ?? {})
  const known = new Set(pids.map(([, pid]) => pid))
  const all = [
    ...pids.map(([name, pid]) => ({ name, pid })),
    ...listed.filter(({ pid }) => !known.has(pid)),
  ]
  const words = all.map(({ name, pid }) => `${name} ${pid}${isRunning(pid) ? '' : ' (gone)'}`)
  const waiting = await Promise.all(listed.filter(({ pid }) => isRunning(pid)).map(whyWaiting))
  return [
    ...(words.length > 0 ? [`processes  ${words.join(', ')}`] : []),
    ...supervisorLines(instance),
    ...waiting.flat(),
    ...roomLines(dataFolder),
  ]
}

/** A killed supervisor could not delete `ready.json`. */
export function supervisorLines(
  instance: Pick<RunningInstance, 'pids'> | undefined,
): readonly string[] {
  const pid = instance?.pids['up']
  if (pid === undefined || isRunning(pid)) return []
  return [
    `the supervisor (process ${pid}) is gone: start it again, it continues with the same data`,
  ]
}

async function whyWaiting({ name, pid, admin }: ListedProcess): Promise<readonly string[]> {
  const why = await askReady(admin)
  return why === undefined ? [] : [`not ready  ${name} ${pid}: ${why}`]
}

/** Why a process is not ready, in its own words; undefined: it is. */
export async function askReady(admin: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${admin}/ready`, {
      signal: AbortSignal.timeout(answerWithinMs),
      headers: { connection: 'close' },
    })
    const text = await response.text()
    if (response.ok) return undefined
    const body: unknown = JSON.parse(text)
    const checks: object =
      typeof body === 'object' && body !== null && 'checks' in body ? Object(body.checks) : {}
    return notReadyInWords(Object.entries(checks).map(([check, state]) => [check, String(state)]))
  } catch {
    return 'it does not answer on its admin port'
  }
}

/** Nothing can be stored with less room, and NATS then fails with errors that do not say so. */
export function roomLines(dataFolder: string, room = roomBytesOf): readonly string[] {
  try {
    const roomBytes = room(dataFolder)
    if (roomBytes >= leastRoomBytes) return []
    return [
      `disk       ${dataFolder} has ${mebibytes(roomBytes)} MiB left and needs ${mebibytes(leastRoomBytes)}: make room, and it continues by itself`,
    ]
  } catch {
    // the folder is not on this machine, so the instance is on another one
    return []
  }
}
