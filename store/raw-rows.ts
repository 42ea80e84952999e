/** How rows of readings become statistics: which count, and which values they have. */
import { correctionOf, inputsOf } from '../core/air/correction-model.ts'
import { type QualityFilter, refusedMaskOf, usualQuality } from '../core/air/quality-level.ts'
import { quantityIds } from '../core/air/quantities.ts'
import type { SensorId } from '../core/air/sensor-id.ts'
import { mostValues } from '../core/air/values.ts'
import type { StatCollector } from './stat-collector.ts'
import { type StatColumn, statFields } from './stat-fields.ts'
import { correctedColumn, type StatCorrection, type StatField } from './store.ts'

/** `Sensor`: what the engine calls one. */
export type RawRows<Sensor> = {
  /** What is read of each row. */
  readonly selected: readonly StatField[]
  /** What the collector is of: the fields, then what the models give. */
  readonly columns: readonly StatColumn[]
  /** The sensor of each row must be known, because a model may not be for it. */
  readonly needsSensor: boolean
  /**
   * A row into a part.
   * @param valueAt in steps, at an index of `selected`; anything but a number where there is none
   * @param sensor known if `needsSensor`
   */
  readonly add: (
    into: StatCollector,
    part: number,
    flags: number,
    valueAt: (at: number) => unknown,
    sensor: Sensor | undefined,
  ) => void
}

type Wanted = {
  readonly fields: readonly StatField[]
  readonly quality?: QualityFilter | undefined
  readonly corrections?: readonly StatCorrection[]
}

/** @param nameOf a sensor as the engine calls it; undefined: it has no rows */
export function rawRows<Sensor>(
  { fields, quality = usualQuality, corrections = [] }: Wanted,
  nameOf: (sensor: SensorId) => Sensor | undefined,
): RawRows<Sensor> {
  const refused = refusedMaskOf(quality)
  const models = corrections.map(({ model, without }) => ({
    model,
    correct: correctionOf(model),
    without: new Set(without.map(nameOf)),
  }))
  const selected = [
    ...new Set<StatField>([...fields, ...models.flatMap(({ model }) => inputsOf(model))]),
  ]
  const ids = selected.map((field) => (field === 'aqi' ? mostValues : quantityIds[field]))
  const values = Array.from<number | null>({ length: mostValues + 1 }).fill(null)
  const correctedAt = (at: number, sensor: Sensor | undefined): number | null => {
    const { correct, without } = models[at]!
    const value = sensor !== undefined && without.has(sensor) ? null : correct(values)
    // a collector takes whole numbers
    return value === null ? null : Math.round(value * 100)
  }
  return {
    selected,
    columns: [...fields, ...models.map(({ model }) => correctedColumn(model))],
    needsSensor: models.some(({ without }) => without.size > 0),
    add: (into, part, flags, valueAt, sensor) => {
      if ((flags & refused) !== 0) return into.leaveOut(part)
      if (models.length === 0) return into.add(part, valueAt)
      for (let at = 0; at < ids.length; at++) {
        const value = valueAt(at)
        values[ids[at]!] = typeof value === 'number' ? value : null
      }
      into.add(part, (column) =>
        column < fields.length ? valueAt(column) : correctedAt(column - fields.length, sensor),
      )
    },
  }
}

/** What written hours and days are made of. */
export const usualRows = (quality?: QualityFilter): RawRows<unknown> =>
  rawRows<unknown>({ fields: statFields, quality }, () => undefined)
