/**
 * What the chain does not say, held against what it is made from: the areas of rows against the
 * registry, their flags and index against the published rules, what their devices signed against the
 * leaves, the verdicts on neighbours against the log, the statistics of areas against the rows. Of rows of version 1 that shows whether the store agrees with itself; of version 2 area and
 * flags are anchored, so what differs is the registry, or the rules were not followed.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import type { DeepCheck } from '../../anchor/audit/audit.ts'
import { derivedFlagsWords, signaturesWords } from '../../anchor/audit/coverage.ts'
import type { Reading } from '../../core/air/reading.ts'
import { type SensorId, sensorIdRules } from '../../core/air/sensor-id.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import { parseAnySensor, siteAt } from '../../schemas/devices/registered-sensor.ts'
import { buckets } from '../../schemas/subjects.ts'
import type { Store } from '../../store/store.ts'
import { checkNeighbours } from './neighbour-faults.ts'
import { checkAreas, checkRules, checkSignatures, checkUnsigned } from './row-faults.ts'
import { checkStatistics, type LetGo, type StatisticsSources } from './statistics-faults.ts'

export type DeepAudit = DeepCheck & {
  /** Every row once, before `run`. */
  readonly see: (rows: readonly Reading[]) => Promise<void>
}

export async function openDeepAudit(
  nc: NatsConnection,
  { idPrefix }: Pick<SharedConfig, 'idPrefix'>,
  store: StatisticsSources & Pick<Store, 'signature'>,
  letGo: LetGo = { beforeMs: 0, isAtHand: false },
): Promise<DeepAudit> {
  const ids = sensorIdRules(idPrefix)
  await using sensors = await watchBucket(nc, buckets.sensors, (value, key) =>
    parseAnySensor(value, ids, key),
  )
  const all = new Map([...sensors.entries()].map(([, sensor]) => [sensor.id, sensor]))
  const known = new Map([...all].filter(([, { retiredMs }]) => retiredMs === undefined))
  const areas = checkAreas(({ sensor, timeMs }) => {
    const registered = known.get(sensor)
    return registered && siteAt(registered, timeMs).area
  })
  const rules = checkRules()
  // a retired sensor has signed what it sent before
  const keysOf = (sensor: SensorId) => all.get(sensor)?.keys ?? []
  const signatures = checkSignatures(store, keysOf, await createKeccak())
  const unsigned = checkUnsigned((sensor) => all.get(sensor)?.mustSignSinceMs)
  return {
    covers: ['area', derivedFlagsWords, signaturesWords, 'statistics of areas'],
    see: async (rows) => {
      areas.see(rows)
      rules.see(rows)
      unsigned.see(rows)
      await signatures.see(rows)
    },
    run: async (findings) => {
      areas.addTo(findings)
      rules.addTo(findings)
      unsigned.addTo(findings)
      signatures.addTo(findings)
      const neighbours = await checkNeighbours(nc, (sensor) => all.get(sensor), findings)
      const { names, fromMs, toMs } = areas.seen()
      for (const { sites } of known.values()) for (const { area } of sites) names.add(area)
      const statistics = await checkStatistics(nc, { store, letGo, names, fromMs, toMs }, findings)
      return [...neighbours, ...statistics]
    },
  }
}
