/**
 * What a process shows from its first moment on: its admin port, its line in the data folder's
 * `processes/` (`airproof status` reads it), and in its log why it is not ready and once that it is.
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

/** Between two looks at what it waits for. */
const lookEveryMs = 500
/** It is said that late at first, and then so often. NATS in the way is said at once (`nats.ts`). */
const firstWordMs = 5 * secondMs
const nextWordMs = minuteMs

/** @throws MustAct where the admin port is in use */
export async function openProcessDoor(options: Options): Promise<Door> {
  const { name, config, log, stop } = options
  await using opened = new AsyncDisposableStack()
  const door = opened.use(await openDoor(config.admin))
  opened.use(enterProcess(config.dataFolder, { name, pid: process.pid, admin: door.url }, log))
  const ending = new AbortController()
  const telling = tellWhenReady(door, { log, stop: AbortSignal.any([stop, ending.signal]) })
  opened.defer(async () => {
    ending.abort()
    await telling
  })
  const all = opened.move()
  return { ...door, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

async function tellWhenReady(
  door: Pick<Door, 'whyNotReady'>,
  { log, stop }: { readonly log: Logger; readonly stop: AbortSignal },
): Promise<void> {
  let nextMs = performance.now() + firstWordMs
  while (!stop.aborted) {
    const why = await door.whyNotReady()
    if (stop.aborted) return
    if (why === undefined) return log.info('ready')
    if (performance.now() >= nextMs) {
      nextMs = performance.now() + nextWordMs
      log.warn(`not ready yet: ${why}`)
    }
    await sleep(lookEveryMs, undefined, { signal: stop, ref: false }).catch(() => undefined)
  }
}
