/**
 * The addresses that LoRaWAN network servers post to: one credential per application, and the
 * sensor is the one whose registry entry names the device's EUI.
 */

import type { Application, ApplicationKind } from '../../schemas/devices/application.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import type { DeviceIndex } from '../device-index.ts'
import { mapChirpstack } from '../devices/chirpstack.ts'
import { mapTtn } from '../devices/ttn.ts'
import type { UplinkVerdict } from '../devices/uplink.ts'
import type { Endpoint, Judging, Prepared, PushRequest } from './endpoint.ts'
import type { FloodGuard } from './flood.ts'
import { acceptMapped, prepareMapped } from './prepare-mapped.ts'
import { PushError } from './push-error.ts'
import { oneJson } from './read-body.ts'

type Options = Judging & {
  readonly applicationOf: (id: string) => Application | undefined
  readonly devices: DeviceIndex
  /** Of the sensors whose readings they are. */
  readonly flood: FloodGuard
}

type LorawanKind = Exclude<ApplicationKind, 'gateway'>
type Read = (request: PushRequest, application: Application) => UplinkVerdict

const reads: Readonly<Record<LorawanKind, Read>> = {
  ttn: ({ body }, { fields }) => mapTtn(body, fields ?? {}),
  chirpstack: ({ body, query }, { fields }) => mapChirpstack(body, query('event'), fields ?? {}),
}

export const uplinkEndpoints = (options: Options): readonly Endpoint[] =>
  (['ttn', 'chirpstack'] as const).map((kind) => ({
    name: kind,
    caller: 'application',
    body: oneJson,
    keeps: true,
    prepare: (request) => prepareUplink(kind, request, options),
  }))

function prepareUplink(
  kind: LorawanKind,
  request: PushRequest,
  { applicationOf, devices, flood, ...judging }: Options,
): Prepared {
  const application = ofKind(applicationOf(request.caller), kind, request)
  const uplink = reads[kind](request, application)
  if ('noUplink' in uplink)
    return {
      messages: [],
      sensors: [],
      answer: { ignored: [{ key: 'message', why: uplink.noUplink }] },
    }
  if ('refused' in uplink) throw new PushError(400, 'not_understood', uplink.refused)
  const { devEui, mapped } = uplink
  const sensor = sensorOf(devEui, application, kind, devices)
  const prepared = prepareMapped(acceptMapped(mapped), sensor, { ...judging, clock: 'server' })
  for (const { body } of prepared.messages) flood(sensor.id, body.length)
  return { ...prepared, answer: { sensor_id: sensor.id, ...prepared.answer } }
}

/** @throws PushError 403 */
export function ofKind(
  application: Application | undefined,
  kind: ApplicationKind,
  { caller }: Pick<PushRequest, 'caller'>,
): Application {
  if (application?.kind === kind) return application
  throw new PushError(403, 'wrong_kind', `${caller} is not an application of kind ${kind}`)
}

/** @throws PushError 400 */
function sensorOf(
  devEui: string,
  { id, devices: starts }: Application,
  kind: LorawanKind,
  devices: DeviceIndex,
): RegisteredSensor {
  const wrong = (code: string, message: string): PushError =>
    new PushError(400, code, message, { details: { given: devEui } })
  if (starts !== undefined && !starts.some((start) => devEui.startsWith(start)))
    throw wrong('foreign_device', `${devEui} is not among the devices of ${id}`)
  const matches = [devEui, devEui.toLowerCase()].map((spelled) => devices.find(kind, spelled))
  const sensors = matches.filter((match) => typeof match !== 'string')
  const [sensor] = sensors
  if (sensors.length > 1 || matches.includes('ambiguous_device'))
    throw wrong('ambiguous_device', `more than one sensor has the device ${kind}:${devEui}`)
  if (sensor !== undefined) return sensor
  throw wrong(
    'unknown_device',
    `no sensor has the device ${kind}:${devEui}: name it in the registry (airproof sensors)`,
  )
}
