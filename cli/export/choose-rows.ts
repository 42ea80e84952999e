/** What an export is asked to have: which readings, and which corrected values beside the raw ones. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { Reading } from '../../core/air/reading.ts'
import { type SensorId, sensorIdRules } from '../../core/air/sensor-id.ts'
import { readAllCorrections } from '../../operate/all-corrections.ts'
import { watchBucket } from '../../runtime/nats/buckets/watched-bucket.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import { readSettings } from '../../runtime/settings.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { kindOf, parseAnySensor } from '../../schemas/devices/registered-sensor.ts'
import { buckets } from '../../schemas/subjects.ts'
import type { Store } from '../../store/store.ts'
import type { CommandContext } from '../shell/command.ts'
import { type ChosenFilter, isPart, isWanted, readFilter, readModels } from './export-filter.ts'
import { mostAskedAlone, rowsInOrder, sensorRowsInOrder } from './stored-rows.ts'

export type Chosen = {
  readonly filter: ChosenFilter
  readonly corrections: readonly Correction[]
  readonly kindOf: (sensor: SensorId) => string | undefined
}

type Source = Pick<SharedConfig, 'idPrefix'> & Pick<CommandContext, 'env' | 'flags'>

/** @throws WrongUsage that names the sensor, area, quality or model that is unknown */
export async function chooseRows(
  nc: NatsConnection,
  store: Pick<Store, 'names'>,
  { idPrefix, env, flags }: Source,
): Promise<Chosen> {
  const rules = sensorIdRules(idPrefix)
  // the flag of that name has names of models
  const file = readSettings({ env, flags: {} }).text('AIRPROOF_CORRECTIONS')
  const corrections = readModels(flags, readAllCorrections(file))
  await using registry = await watchBucket(nc, buckets.sensors, (value, key) =>
    parseAnySensor(value, rules, key),
  )
  const registered = new Map([...registry.entries()].map(([, sensor]) => [sensor.id, sensor]))
  const stored = await store.names()
  const areas = [...registered.values()].flatMap(({ sites }) => sites.map(({ area }) => area))
  const filter = readFilter(flags, rules, {
    sensors: new Set([...registered.keys(), ...stored.sensors]),
    areas: new Set([...areas, ...stored.areas]),
  })
  return { filter, corrections, kindOf: (sensor) => kindOf(registered.get(sensor)) }
}

/** Oldest first. */
export async function* chosenRows(
  store: Pick<Store, 'range' | 'rangeAll'>,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  filter: ChosenFilter,
): AsyncGenerator<readonly Reading[]> {
  const { sensors } = filter
  const pages =
    sensors !== undefined && sensors.length <= mostAskedAlone
      ? sensorRowsInOrder(store, sensors, { fromMs, toMs })
      : rowsInOrder(store, fromMs, toMs)
  if (!isPart(filter)) return yield* pages
  const wanted = isWanted(filter)
  for await (const page of pages) yield page.filter(wanted)
}
