/** Corrected values beside the raw ones, where a request names their models. */
import { corrected } from '../../core/air/correction-model.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { Correction } from '../../schemas/corrections.ts'
import { kindOf, type RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import { badParameter } from '../http/api-error.ts'
import { type Params, readWord } from '../http/params.ts'
import type { CorrectedOf } from '../live/view.ts'

/** @returns none unless `corrections` names some @throws ApiError 400 */
export function readWantedCorrections(
  params: Params,
  known: readonly Correction[],
): readonly Correction[] {
  const text = readWord(params, 'corrections')
  if (text === undefined) return []
  const names = text.split(',').map((name) => name.trim())
  const wanted = names.flatMap((name) => known.find((model) => model.name === name) ?? [])
  if (wanted.length === names.length && new Set(names).size === names.length) return wanted
  const all = known.map(({ name }) => name).join(', ')
  throw badParameter('corrections', text, `some of ${all}, each once, between commas`)
}

export const correctedBy =
  (
    models: readonly Correction[],
    registered: (sensor: SensorId) => RegisteredSensor | undefined,
  ): CorrectedOf =>
  ({ sensor, values }) => {
    const kind = kindOf(registered(sensor))
    return Object.fromEntries(
      models.map((model) => {
        const value = corrected(model, values, kind)
        return [model.name, { [model.of]: value === null ? null : Math.round(value * 10) / 10 }]
      }),
    )
  }

/** What identifies the models of an answer: other coefficients have another hash. */
export const correctionsJson = (models: readonly Correction[]) =>
  models.map(({ name, version, hash }) => ({ name, version, hash }))

/** The same as a word, for a column: `epa_2021_ext/1/0x…`, with spaces between models. */
export const correctionsWord = (models: readonly Correction[]): string =>
  models.map(({ name, version, hash }) => `${name}/${version}/${hash}`).join(' ')

/** GET /v1/corrections: every model, whole. */
export const listCorrections = (corrections: readonly Correction[]): Route => {
  const answer = jsonAnswer({ status: 'success', count: corrections.length, corrections })
  return {
    path: '/v1/corrections',
    params: [],
    types: [jsonType],
    answer: () => ({ ...answer, isKept: true }),
  }
}
