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
import { acceptMapped, prepareMapped } from './prepare-mapped.ts'
import { PushError } from './push-error.ts'

type Options = Judging & {
  readonly applicationOf: (id: string) => Application | undefined
  readonly devices: DeviceIndex
}

type Read = (request: PushRequest, application: Application) => UplinkVerdict

const reads: Readonly<Record<ApplicationKind, Read>> = {
  ttn: ({ body }, { fields }) => mapTtn(body, fields),
  chirpstack: ({ body, query }, { fields }) => mapChirpstack(body, query('event'), fields),
}

export const uplinkEndpoints = (options: Options): readonly Endpoint[] =>
  (['ttn', 'chirpstack'] as const).map((kind) => ({
    name: kind,
    caller: 'application',
    keeps: true,
    prepare: (request) => prepareUplink(kind, request, options),
  }))

function prepareUplink(
  kind: ApplicationKind,
  request: PushRequest,
  { applicationOf, devices, ...judging }: Options,
): Prepared {
  const application = applicationOf(request.caller)
  if (application?.kind !== kind)
    throw new PushError(
      403,
      'wrong_kind',
      `${request.caller} is not an application of kind ${kind}`,
    )
  const uplink = reads[kind](request, application)
  if ('noUplink' in uplink)
    return { answer: { ignored: [{ key: 'message', why: uplink.noUplink }] } }
  if ('refused' in uplink) throw new PushError(400, 'not_understood', uplink.refused)
  const { devEui, mapped } = uplink
  const sensor = sensorOf(devEui, application, devices)
  const prepared = prepareMapped(acceptMapped(mapped), sensor, { ...judging, clock: 'server' })
  return { ...prepared, answer: { sensor_id: sensor.id, ...prepared.answer } }
}

/** @throws PushError 400 */
function sensorOf(
  devEui: string,
  { id, kind, devices: starts }: Application,
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
