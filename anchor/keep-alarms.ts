/** The alarms of now, where `airproof status` of any machine finds them. */
import { formatIso } from '../core/iso-time.ts'
import type { Logger } from '../runtime/log.ts'
import type { SealedBatches } from './sealed-batches.ts'
import type { Alarm } from './send/alarm.ts'

type Options = {
  readonly batches: Pick<SealedBatches, 'putAlarms'>
  readonly nowMs: () => number
  readonly log: Pick<Logger, 'debug'>
}

/**
 * Written when there are other alarms than before, and once at the start: a process that was killed may
 * have left some. Never rejects: what could not be written is written at the next call.
 */
export function createAlarmKeeper({ batches, nowMs, log }: Options) {
  let kept: string | undefined
  return async (alarms: readonly Alarm[]): Promise<void> => {
    const reasons = alarms.map(({ reason }) => reason).join()
    if (reasons === kept) return
    try {
      const listed = alarms.map(({ reason, words }) => ({ reason, words }))
      await batches.putAlarms({ alarms: listed, since: formatIso(nowMs()) })
      kept = reasons
    } catch (error) {
      log.debug({ err: error }, 'the alarms could not be written: trying again')
    }
  }
}
