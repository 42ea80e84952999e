/** When our own service received nothing last, so that no sensor is blamed for it. */
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { OurOutage } from '../../../core/state/why-silent.ts'
import { readingsStream } from '../../../schemas/subjects.ts'

type Options = {
  readonly nowMs: () => number
  readonly onFailure: (error: unknown) => void
}

/**
 * From the newest message of the log until this process was connected: at its start, and after each
 * break of its connection. If only this process was away, that time is short.
 * @returns undefined until it is known, and for an empty log
 */
export function followOurOutage(
  nc: NatsConnection,
  { nowMs, onFailure }: Options,
): () => OurOutage | undefined {
  let outage: OurOutage | undefined
  const look = async (): Promise<void> => {
    const toMs = nowMs()
    try {
      const manager = await jetstreamManager(nc, { checkAPI: false })
      const { state } = await manager.streams.info(readingsStream)
      if (state.messages > 0) outage = { fromMs: Math.min(toMs, Date.parse(state.last_ts)), toMs }
    } catch (error) {
      onFailure(error)
    }
  }
  void (async () => {
    await look()
    for await (const { type } of nc.status()) if (type === 'reconnect') await look()
  })()
  return () => outage
}
