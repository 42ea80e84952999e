/**
 * Gets our nats-server to store again after a full disk. When a write finds no space the server
 * gives its streams up, and returning space does not bring them back: only a restart does.
 */

import { inWords } from '../../runtime/exit.ts'
import type { Logger } from '../../runtime/log.ts'
import { leastRoomBytes, mebibytes, roomBytesOf } from '../../runtime/machine/data-folder.ts'

/** `room-again`: restart it now. */
export type RoomVerdict = 'no-room' | 'restarted-just-now' | 'room-again'

type Seen = {
  readonly roomBytes: number
  readonly needsBytes: number
  readonly nowMs: number
  /** On the same clock; undefined: it was never restarted for this. */
  readonly restartedMs: number | undefined
}

/** Where inodes or a quota ran out, which we do not see, no restart helps. */
const leastBetweenMs = 60_000

export function judgeRoom({ roomBytes, needsBytes, nowMs, restartedMs }: Seen): RoomVerdict {
  if (roomBytes < needsBytes) return 'no-room'
  const isTooSoon = restartedMs !== undefined && nowMs - restartedMs < leastBetweenMs
  return isTooSoon ? 'restarted-just-now' : 'room-again'
}

export type RoomWatch = Disposable & {
  /** The server reported that it could not store for want of space. May be called repeatedly. */
  readonly noRoom: () => void
}

type Options = {
  readonly folder: string
  readonly log: Logger
  /** Resolves when the old server is gone. */
  readonly restart: () => Promise<void>
  readonly room?: (folder: string) => number
  readonly everyMs?: number
}

/** Logs once that there is no room, looks until there is, restarts the server and logs that. */
export function watchRoom(options: Options): RoomWatch {
  const { folder, log, restart, room = roomBytesOf, everyMs = 3_000 } = options
  const needs = mebibytes(leastRoomBytes)
  let state: 'storing' | 'full' | 'restarting' = 'storing'
  let timer: NodeJS.Timeout | undefined
  let restartedMs: number | undefined

  const look = async (): Promise<void> => {
    const roomBytes = room(folder)
    const nowMs = performance.now()
    const verdict = judgeRoom({ roomBytes, needsBytes: leastRoomBytes, nowMs, restartedMs })
    if (verdict !== 'room-again') return
    clearInterval(timer)
    // What the old server still logs while it stops is not a new failure.
    state = 'restarting'
    restartedMs = nowMs
    log.warn(
      `${folder} has room again (${mebibytes(roomBytes)} MiB left): restarting nats-server, so that it stores again`,
    )
    await restart()
    state = 'storing'
  }
  const lookSafely = (): void =>
    void look().catch((error: unknown) => log.error(`cannot see the room left: ${inWords(error)}`))
  return {
    noRoom: () => {
      if (state !== 'storing') return
      state = 'full'
      log.error(
        `nats-server found no space and stores nothing any more: ${folder} has ${mebibytes(room(folder))} MiB left and needs ${needs}: make room, and it continues by itself`,
      )
      timer = setInterval(lookSafely, everyMs)
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
