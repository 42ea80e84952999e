import { statusNames } from '../../../core/state/presence.ts'
import {
  createSensor,
  newEntry,
  type Registry,
  removeSensor,
} from '../../../operate/sensor-registry.ts'
import { defaultCadenceSeconds } from '../../../schemas/devices/sensor.ts'
import { Refusal } from '../refusal.ts'
import type { DashboardRoute } from '../route.ts'
import type { WriteAudit } from './audit.ts'
import { jsonRoute, wrongFields } from './json-route.ts'
import { choiceOf, wholeOf } from './query-params.ts'
import type { SensorList } from './sensor-list.ts'

type Options = {
  readonly sensors: SensorList
  readonly registry: Registry
  readonly audit: WriteAudit
  readonly nowMs: () => number
}

const path = '/operator/api/sensors'
const needs = 'operator'

/** The registry: list, show, add, remove. */
export const operatorSensorRoutes = ({
  sensors,
  registry,
  audit,
  nowMs,
}: Options): readonly DashboardRoute[] => [
  jsonRoute({
    method: 'GET',
    path,
    needs,
    answer: ({ query }) =>
      sensors.list({
        search: (query.get('search') ?? '').slice(0, 200),
        state: choiceOf(query, 'state', statusNames),
        after: query.get('after') ?? '',
        limit: wholeOf(query, 'limit', { most: 500, unless: 50 }),
      }),
  }),
  jsonRoute({
    method: 'GET',
    path: `${path}/:id`,
    needs,
    answer: async ({ names }) => {
      const sensor = await sensors.find(names['id'] ?? '')
      if (sensor === undefined) throw noSensor()
      return { sensor }
    },
  }),
  jsonRoute({
    method: 'POST',
    path,
    needs,
    status: 201,
    answer: async ({ body, session, ctx }) => {
      const wanted = wantedSensor(body, registry)
      if ((await sensors.find(wanted.id)) !== undefined)
        throw wrongFields([{ field: 'id', expected: 'the id of no sensor yet: it is taken' }])
      const nowMsNow = nowMs()
      await createSensor(registry, newEntry({ ...wanted, fromMs: nowMsNow, nowMs: nowMsNow }))
      await audit(session.account.id, 'operator_sensor_added', ctx, { sensor: wanted.id })
      return { sensor: await sensors.find(wanted.id) }
    },
  }),
  jsonRoute({
    method: 'DELETE',
    path: `${path}/:id`,
    needs,
    answer: async ({ names, session, ctx }) => {
      const id = registry.rules.parse(names['id'] ?? '')
      if (id === undefined || (await sensors.find(id)) === undefined) throw noSensor()
      await removeSensor(registry, id, nowMs())
      await audit(session.account.id, 'operator_sensor_removed', ctx, { sensor: id })
      return { sensor: { id, removed: true } }
    },
  }),
]

const noSensor = (): Refusal => new Refusal(404, 'sensor_not_found', 'there is no such sensor')

/** @throws Refusal 400 that names every wrong field */
function wantedSensor(body: Readonly<Record<string, unknown>>, { rules }: Registry) {
  const wrong: { field: string; expected: string }[] = []
  const text = (field: string, longest: number): string => {
    const value = body[field]
    const clean = typeof value === 'string' ? value.trim().normalize('NFC') : ''
    if (clean === '' || clean.length > longest)
      wrong.push({ field, expected: `a text of 1 to ${longest} characters` })
    return clean
  }
  const number = (field: string, least: number, most: number, unless?: number): number => {
    const value = body[field] ?? unless
    if (typeof value === 'number' && value >= least && value <= most) return value
    wrong.push({ field, expected: `a number from ${least} to ${most}` })
    return least
  }
  const id = rules.parse(text('id', 64))
  if (id === undefined && !wrong.some(({ field }) => field === 'id'))
    wrong.push({ field: 'id', expected: `such as ${rules.format}` })
  const wanted = {
    area: text('area', 80),
    address: text('address', 200),
    lat: number('lat', -90, 90),
    lon: number('lon', -180, 180),
    cadenceSeconds: Math.round(number('cadence_seconds', 1, 86_400, defaultCadenceSeconds)),
  }
  if (wrong.length > 0 || id === undefined) throw wrongFields(wrong)
  return { id, ...wanted }
}
