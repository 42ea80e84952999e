import type { NatsConnection } from '@nats-io/transport-node'
import type { Context } from 'koa'
import type { SensorId } from '../../../core/air/sensor-id.ts'
import { formatIso } from '../../../core/iso-time.ts'
import { statusNames } from '../../../core/state/presence.ts'
import type { SensorSilence } from '../../../operate/sensor-access.ts'
import { issueNewCredential } from '../../../operate/sensor-credentials.ts'
import { assertMayDescribe } from '../../../operate/sensor-keys.ts'
import {
  changeSensor,
  createSensor,
  mergeSites,
  newEntry,
  type Registry,
  removeSensor,
} from '../../../operate/sensor-registry.ts'
import {
  changedSettings,
  type SensorSettings,
  saysAbout,
  withSettings,
} from '../../../operate/sensor-settings.ts'
import { aboutNames, defaultCadenceSeconds } from '../../../schemas/devices/sensor.ts'
import { Refusal } from '../refusal.ts'
import type { DashboardRoute, Session } from '../route.ts'
import type { WriteAudit } from './audit.ts'
import { jsonRoute, wrongFields } from './json-route.ts'
import { choiceOf, wholeOf } from './query-params.ts'
import { type SensorFields, sensorFields } from './sensor-fields.ts'
import type { SensorList } from './sensor-list.ts'

/** Why a sensor does not report; null: it does. @throws where the API does not answer */
export type LookSilence = (ctx: Context, id: string) => Promise<SensorSilence | null>

type Options = {
  readonly nc: NatsConnection
  readonly sensors: SensorList
  readonly registry: Registry
  readonly audit: WriteAudit
  readonly silence: LookSilence
  readonly nowMs: () => number
}

const path = '/operator/api/sensors'
const needs = 'operator'

/** The registry: list, show, add, change, move, give a new key, retire. */
export function operatorSensorRoutes({
  nc,
  sensors,
  registry,
  audit,
  silence,
  nowMs,
}: Options): readonly DashboardRoute[] {
  const known = async (names: Readonly<Record<string, string>>): Promise<SensorId> => {
    const id = registry.rules.parse(names['id'] ?? '')
    if (id === undefined || (await sensors.find(id)) === undefined) throw noSensor()
    return id
  }
  /** Shown in this answer only; the one before it ends at once. */
  const newKey = async (id: SensorId, session: Session, ctx: Context): Promise<string> => {
    const key = await issueNewCredential(registry.credentials, id, nowMs())
    await audit(session.account.id, 'operator_sensor_key_made', ctx, { sensor: id })
    return key
  }
  return [
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
      method: 'GET',
      path: `${path}/:id/silence`,
      needs,
      answer: async ({ names, ctx }) => ({ silence: await silence(ctx, await known(names)) }),
    }),
    jsonRoute({
      method: 'POST',
      path,
      needs,
      status: 201,
      answer: async ({ body, session, ctx }) => {
        const { id, withKey, place } = wantedSensor(body, registry)
        if ((await sensors.find(id)) !== undefined)
          throw wrongFields([{ field: 'id', expected: 'the id of no sensor yet: it is taken' }])
        const atMs = nowMs()
        await createSensor(registry, newEntry({ id, ...place, fromMs: atMs, nowMs: atMs }))
        await audit(session.account.id, 'operator_sensor_added', ctx, { sensor: id })
        const key = withKey ? await newKey(id, session, ctx) : null
        return { sensor: await sensors.find(id), key }
      },
    }),
    jsonRoute({
      method: 'PATCH',
      path: `${path}/:id`,
      needs,
      answer: async ({ names, body, session, ctx }) => {
        const id = await known(names)
        const settings = wantedSettings(body)
        if (saysAbout(settings)) await assertMayDescribe(nc)
        let what: readonly string[] = []
        await changeSensor(registry, id, (entry) => {
          const next = withSettings(entry, settings, nowMs())
          what = changedSettings(entry, next)
          return what.length === 0 ? undefined : next
        })
        if (what.length > 0)
          await audit(session.account.id, 'operator_sensor_changed', ctx, {
            sensor: id,
            what: what.join(', '),
          })
        return { sensor: await sensors.find(id) }
      },
    }),
    jsonRoute({
      method: 'POST',
      path: `${path}/:id/move`,
      needs,
      answer: async ({ names, body, session, ctx }) => {
        const id = await known(names)
        const place = wantedPlace(body)
        const from = formatIso(nowMs())
        await changeSensor(registry, id, (entry) => {
          const sites = mergeSites([...entry.sites, { from, ...place }])
          return sites.length === entry.sites.length ? undefined : { ...entry, sites }
        })
        await audit(session.account.id, 'operator_sensor_moved', ctx, {
          sensor: id,
          area: place.area,
          lat: place.lat,
          lon: place.lon,
        })
        return { sensor: await sensors.find(id) }
      },
    }),
    jsonRoute({
      method: 'POST',
      path: `${path}/:id/key`,
      needs,
      status: 201,
      answer: async ({ names, body, session, ctx }) => {
        sensorFields(body, []).settle()
        return { key: await newKey(await known(names), session, ctx) }
      },
    }),
    jsonRoute({
      method: 'DELETE',
      path: `${path}/:id`,
      needs,
      answer: async ({ names, session, ctx }) => {
        const id = await known(names)
        await removeSensor(registry, id, nowMs())
        await audit(session.account.id, 'operator_sensor_removed', ctx, { sensor: id })
        return { sensor: { id, removed: true } }
      },
    }),
  ]
}

const noSensor = (): Refusal => new Refusal(404, 'sensor_not_found', 'there is no such sensor')

const placeNames = ['area', 'address', 'lat', 'lon'] as const
const placeOf = (fields: SensorFields) => ({
  area: fields.text('area', 80),
  address: fields.text('address', 200),
  lat: fields.number('lat', -90, 90),
  lon: fields.number('lon', -180, 180),
})

/** @throws Refusal 400 that names every wrong field */
function wantedSensor(body: Readonly<Record<string, unknown>>, { rules }: Registry) {
  const fields = sensorFields(body, ['id', ...placeNames, 'cadence_seconds', 'key'])
  const text = fields.text('id', 64)
  const id = rules.parse(text)
  if (id === undefined && text !== '')
    fields.fault({ field: 'id', expected: `such as ${rules.format}` })
  const place = placeOf(fields)
  const cadenceSeconds = Math.round(
    fields.number('cadence_seconds', 1, 86_400, defaultCadenceSeconds),
  )
  const withKey = fields.yes('key') ?? false
  fields.settle()
  // settled: it is one
  if (id === undefined) throw noSensor()
  return { id, withKey, place: { ...place, cadenceSeconds } }
}

/** A new place from now on: its older readings stay at the old one. @throws Refusal 400 */
function wantedPlace(body: Readonly<Record<string, unknown>>) {
  const fields = sensorFields(body, placeNames)
  const place = placeOf(fields)
  fields.settle()
  return place
}

/** Fields that are left out stay. @throws Refusal 400 */
function wantedSettings(body: Readonly<Record<string, unknown>>): SensorSettings {
  const fields = sensorFields(body, ['cadence_seconds', 'receipts', ...aboutNames])
  const cadence = body['cadence_seconds']
  const settings: SensorSettings = {
    cadenceSeconds:
      cadence === undefined ? undefined : Math.round(fields.number('cadence_seconds', 1, 86_400)),
    receipts: fields.yes('receipts'),
    ...fields.about(),
  }
  fields.settle()
  return settings
}
