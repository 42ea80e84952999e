/**
 * What a process shows from its start: its admin port, its file in the data folder's `processes/`
 * (`airproof status` reads it), and in its log why it is not ready, and when it is.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { minuteMs, secondMs } from '../../core/time.ts'
import type { Logger } from '../log.ts'
import { enterProcess } from '../machine/process-list.ts'
import { type Door, openDoor } from './admin.ts'
import type { SharedConfig } from './config.ts'

type Options = {
  readonly name: string
  readonly config: Pick<SharedConfig, 'admin' | 'dataFolder'>
  readonly log: Logger
  readonly stop: AbortSignal
}

/** Between two checks of what it waits for. */
const checkEveryMs = 500
/** When it is logged first, and how often after that. Trouble with NATS is logged at once (`nats.ts`). */
const firstLineMs = 5 * secondMs
const nextLineMs = minuteMs

/** @throws MustAct if the admin port is in use */
export async function openProcessDoor(options: Options): Promise<Door> {
  const { name, config, log, stop } = options
  await using opened = new AsyncDisposableStack()
  const door = opened.use(await openDoor(config.admin))
  opened.use(enterProcess(config.dataFolder, { name, pid: process.pid, admin: door.url }, log))
  const ending = new AbortController()
  const logging = logWhenReady(door, { log, stop: AbortSignal.any([stop, ending.signal]) })
  opened.defer(async () => {
    ending.abort()
    await logging
  })
  const all = opened.move()
  return { ...door, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

async function logWhenReady(
  door: Pick<Door, 'whyNotReady'>,
  { log, stop }: { readonly log: Logger; readonly stop: AbortSignal },
): Promise<void> {
  let nextMs = performance.now() + firstLineMs
  while (!stop.aborted) {
    const why = await door.whyNotReady()
    if (stop.aborted) return
    if (why === undefined) return log.info('ready')
    if (performance.now() >= nextMs) {
      nextMs = performance.now() + nextLineMs
      log.warn(`not ready yet: ${why}`)
    }
    await sleep(checkEveryMs, undefined, { signal: stop, ref: false }).catch(() => undefined)
  }
}
