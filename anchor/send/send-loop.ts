import type { Logger } from '../../runtime/log.ts'
import { isServerAway } from '../../runtime/server-away.ts'
import { ChainAway, RpcRefusal, WrongChain } from '../chain/rpc.ts'
import { ContractChanged } from '../contract-changed.ts'
import { Overtaken } from '../fence.ts'
import type { Alarm } from './alarm.ts'
import type { TickReport } from './sender.ts'

type LoopOptions = {
  readonly tick: () => Promise<TickReport>
  readonly pollMs: number
  readonly pause: (ms: number) => Promise<void>
  readonly stop: AbortSignal
  readonly log: Logger
  readonly onReport: (report: TickReport) => void
  readonly onAlarms: (alarms: readonly Alarm[]) => Promise<void>
}

/**
 * Ticks until `stop`. The chain may be away for any time: nothing else waits for it.
 * @throws ContractChanged another contract is to be worked on
 */
export async function runSender(options: LoopOptions): Promise<void> {
  const { tick, pollMs, pause, stop, log, onReport, onAlarms } = options
  let reported = ''
  const reportAlarms = async (alarms: readonly Alarm[]): Promise<void> => {
    await onAlarms(alarms)
    const reasons = alarms.map(({ reason }) => reason).join()
    if (reasons === reported) return
    reported = reasons
    for (const { reason, words } of alarms) log.error({ alarm: reason }, words)
    if (alarms.length === 0) log.info('anchors: no alarm any more')
  }
  let mined = -1
  while (!stop.aborted) {
    try {
      const report = await tick()
      onReport(report)
      await reportAlarms(report.alarms)
      // a backlog is sent as fast as the chain takes it
      const isMoving = report.onChain > mined && mined >= 0
      mined = report.onChain
      await pause(isMoving ? Math.min(pollMs, 100) : pollMs)
    } catch (error) {
      if (stop.aborted) return
      if (error instanceof ContractChanged) throw error
      if (!(error instanceof Overtaken)) await reportAlarms(alarmsOf(error, log))
      await pause(pollMs)
    }
  }
}

function alarmsOf(error: unknown, log: Logger): Alarm[] {
  if (error instanceof WrongChain) return [{ reason: 'WRONG_CHAIN', words: error.message }]
  if (error instanceof ChainAway) return [{ reason: 'CHAIN_AWAY', words: error.message }]
  if (error instanceof RpcRefusal) return [{ reason: 'REFUSED', words: error.message }]
  if (isServerAway(error)) log.debug({ err: error }, 'NATS did not answer: trying again')
  else log.warn({ err: error }, 'anchors: trying again')
  return []
}
