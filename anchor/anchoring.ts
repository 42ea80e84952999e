/** Everything the process does while the task is its own: seal, send, trim. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { JetStreamClient } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Hex } from '../core/hex.ts'
import type { BatchEnd } from '../core/proof/batch.ts'
import type { Keccak } from '../core/proof/leaf.ts'
import { minuteMs, secondMs } from '../core/time.ts'
import { MustAct } from '../runtime/exit.ts'
import type { Logger } from '../runtime/log.ts'
import { jsonOf } from '../runtime/nats/buckets/read-entry.ts'
import { firstReadings } from '../runtime/nats/first-readings.ts'
import { isServerAway } from '../runtime/server-away.ts'
import { checkedKey, parseChecked, type SealedBatch } from '../schemas/anchoring/batch-record.ts'
import type { AnyDeployment } from '../schemas/anchoring/deployments.ts'
import { readingsSubject } from '../schemas/subjects.ts'
import type { AnchorConfig } from './config.ts'
import { ContractChanged } from './contract-changed.ts'
import type { FencedBucket } from './fence.ts'
import { createAlarmKeeper } from './keep-alarms.ts'
import type { AnchorMetrics } from './metrics.ts'
import { runSealer } from './seal/sealer.ts'
import { sealAgain } from './seal-again.ts'
import type { SealedBatches } from './sealed-batches.ts'
import type { Alarm } from './send/alarm.ts'
import { runSender } from './send/send-loop.ts'
import type { TickReport } from './send/sender.ts'
import { createTrimmer } from './trim.ts'

export type AnchoringOptions = {
  readonly nc: NatsConnection
  readonly js: JetStreamClient
  readonly keccak: Keccak
  readonly batches: SealedBatches
  /** Every contract, in the order that they were made. */
  readonly deployments: readonly AnyDeployment[]
  /** The one in use, and where it begins. */
  readonly deployment: AnyDeployment
  readonly start: BatchEnd
  /** Buckets `batches`, `anchoring` and `proofs`. */
  readonly records: FencedBucket
  readonly journal: FencedBucket
  readonly proofs: FencedBucket
  /** The last batch of the contract; Infinity where it is the newest, and only then batches are sealed. */
  readonly until: number
  /**
   * All that contract 1 may hold is final, batch `index` the last of it.
   * @returns what a person must do @throws ContractChanged contract 2 is there
   */
  readonly nextContract: (index: number) => Promise<Alarm>
  /** Shuts contracts that were given up, where that is for us to do. @returns those that were open */
  readonly closeFormer: () => Promise<readonly AnyDeployment[]>
  readonly settings: Pick<AnchorConfig, 'intervalMs' | 'maxReadings' | 'pollMs' | 'kept'>
  readonly tick: () => Promise<TickReport>
  /** Bucket `system`. */
  readonly system: KV
  readonly metrics: AnchorMetrics
  readonly log: Logger
  readonly nowMs: () => number
  /** A person must act: the process must end. */
  readonly onFatal: (error: unknown) => void
}

export type Anchoring = { readonly stop: () => Promise<void> }

const retryMs = secondMs
const trimEveryMs = minuteMs
const ageEveryMs = 5 * secondMs

/** Not for this process to try again. */
const isForAnother = (error: unknown): boolean =>
  error instanceof MustAct || error instanceof ContractChanged

export function startAnchoring(options: AnchoringOptions): Anchoring {
  const { nc, batches, settings, tick, until, nextContract, system, metrics, log, onFatal } =
    options
  const { deployment, records, start } = options
  const stopping = new AbortController()
  const stop = stopping.signal
  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: stop }).catch(() => undefined)
  let finalizedHash: Hex | undefined
  let final = 0
  let border: number | undefined

  /** What was sealed for a former contract is sealed for this one, before anything is done in it. */
  const prepared = async (): Promise<void> => {
    while (!stop.aborted && until === Infinity) {
      try {
        const again = await sealAgain(options)
        if (again > 0) log.warn({ batches: again, contract: deployment.contract }, 'sealed again')
        return
      } catch (error) {
        if (isForAnother(error)) throw error
        log.warn({ err: error }, 'sealing again for another contract: trying again')
        await pause(retryMs)
      }
    }
  }
  const sealing = async (): Promise<void> => {
    const sealer = {
      ...options,
      ...settings,
      contract: 'from' in deployment ? deployment.contract : undefined,
      stop,
      beacon: () => finalizedHash,
      onSealed: ({ header }: SealedBatch) => {
        metrics.showSealed(header)
        log.info({ batch: header.index, readings: header.count }, 'sealed')
      },
      onBorder: async (index: number) => {
        await batches.putBorder(index)
        border = index
      },
    }
    while (!stop.aborted && until === Infinity) {
      try {
        await runSealer(sealer)
      } catch (error) {
        if (isForAnother(error)) return onFatal(error)
        if (isServerAway(error)) log.debug({ err: error }, 'NATS did not answer: trying again')
        else log.warn({ err: error }, 'sealing: trying again')
        await pause(retryMs)
      }
    }
  }
  let isFormerClosed = until !== Infinity
  const tickOf = async (): Promise<TickReport> => {
    const report = await tick()
    if (!isFormerClosed) {
      for (const { contract } of await options.closeFormer())
        log.info({ contract }, 'nothing more can be anchored in the former contract')
      isFormerClosed = true
    }
    if (report.final >= until)
      throw new ContractChanged(
        `all ${until} batches of the former contract are on the chain again: the next contract follows`,
      )
    if (border === undefined || report.final < border) return report
    return { ...report, alarms: [...report.alarms, await nextContract(border)] }
  }
  const keepAlarms = createAlarmKeeper(options)
  const sending = (): Promise<void> =>
    runSender({
      tick: tickOf,
      pollMs: settings.pollMs,
      pause,
      stop,
      log,
      onReport: (report) => {
        finalizedHash = report.finalized.hash
        final = report.final
        metrics.show(report)
      },
      onAlarms: async (alarms) => {
        metrics.alarm(alarms)
        await keepAlarms(alarms)
      },
    })
  const trim = createTrimmer({
    nc,
    system,
    finalLast: () => batches.get(final)?.header.last ?? 0,
    nowMs: options.nowMs,
    kept: settings.kept,
  })
  const trimming = async (): Promise<void> => {
    for (;;) {
      await pause(trimEveryMs)
      if (stop.aborted) return
      try {
        const keptFrom = await trim()
        if (keptFrom !== undefined) metrics.keptFrom.set(keptFrom)
      } catch (error) {
        log.debug({ err: error }, 'READINGS was not trimmed this time')
      }
    }
  }
  /** Its age is an alarm, whatever keeps readings from the chain. */
  const aging = async (): Promise<void> => {
    for (; !stop.aborted; await pause(ageEveryMs)) {
      try {
        // before the chain was asked, what was found final last
        const index =
          final === 0
            ? (parseChecked(jsonOf(await records.get(checkedKey)))?.index ?? start.index)
            : final
        const last = batches.get(index)?.header.last ?? start.last
        metrics.showOldest((await firstReadings(nc, readingsSubject('*'), last))?.timeMs)
      } catch (error) {
        log.debug({ err: error }, 'the oldest reading is looked up later')
      }
    }
    metrics.showOldest(undefined)
  }
  const anchoring = prepared().then(() => Promise.all([sealing(), sending()]))
  const work = Promise.all([anchoring, trimming(), aging()])
  work.catch(onFatal)
  return {
    stop: async () => {
      stopping.abort()
      await Promise.allSettled([work])
    },
  }
}
