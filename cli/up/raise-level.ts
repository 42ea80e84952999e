import { setTimeout as sleep } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../../core/time.ts'
import { processInWords, raiseFormatLevel } from '../../operate/format-upgrade.ts'
import { whyOf } from '../../runtime/broken.ts'
import type { Logger } from '../../runtime/log.ts'

const againMs = 10 * secondMs

/**
 * `airproof upgrade` for what runs under `up`, whose processes are all of this version. Others may
 * work on the same NATS, so it retries until they know the newest level too.
 */
export async function raiseWhenAllKnow(
  nc: NatsConnection,
  { log, stop }: { readonly log: Logger; readonly stop: AbortSignal },
): Promise<void> {
  const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal: stop, ref: false })
  let last = ''
  while (!stop.aborted) {
    try {
      const { from, to, outdated } = await raiseFormatLevel(nc, { pause })
      if (outdated.length === 0) {
        if (from !== to) log.info({ from, to }, 'the format level was raised')
        return
      }
      const waiting = outdated.map(processInWords).join(', ')
      if (waiting !== last) log.warn({ level: from, waiting }, 'the format level waits for others')
      last = waiting
    } catch (error) {
      if (stop.aborted) return
      log.debug({ err: error }, `the format level was not raised: ${whyOf(error)}`)
    }
    await pause(againMs).catch(() => undefined)
  }
}
