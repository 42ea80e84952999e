/**
 * The addresses that LoRaWAN network servers post to: one credential an application, and the sensor
 * is the one whose registry entry names the device's EUI.
 */
import { mapChirpstack } from '../../core/device-maps/chirpstack.ts'
import { mapTtn } from '../../core/device-maps/ttn.ts'
import type { UplinkVerdict } from '../../core/device-maps/uplink.ts'
import type { SensorId } from '../../core/sensor-id.ts'
import type { Application, ApplicationKind } from '../../schemas/application.ts'
import type { Endpoint, Judging, Prepared, PushRequest } from './endpoint.ts'
import { acceptMapped, prepareMapped } from './prepare-mapped.ts'
import { PushError } from './push-error.ts'

type Options = Judging & {
  readonly applicationOf: (id: string) => Application | undefined
  readonly sensorOfDevice: (kind: ApplicationKind, devEui: string) => SensorId | undefined
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
  { applicationOf, sensorOfDevice, ...judging }: Options,
): Prepared {
  const application = applicationOf(request.caller)
  if (application?.kind !== kind)
    throw new PushError(403, 'wrong_kind', `${request.caller} is no application of kind ${kind}`)
  const uplink = reads[kind](request, application)
  if ('noUplink' in uplink)
    return { answer: { ignored: [{ key: 'message', why: uplink.noUplink }] } }
  if ('refused' in uplink) throw new PushError(400, 'not_understood', uplink.refused)
  const { devEui, mapped } = uplink
  const { devices } = application
  const sensor = sensorOfDevice(kind, devEui)
  const isItsOwn = devices === undefined || devices.some((start) => devEui.startsWith(start))
  if (sensor === undefined || !isItsOwn)
    throw new PushError(
      400,
      isItsOwn ? 'unknown_device' : 'foreign_device',
      isItsOwn
        ? `no sensor has the device ${kind} ${devEui}: name it in the registry`
        : `${devEui} is not among the devices of ${application.id}`,
      { details: { given: devEui } },
    )
  const prepared = prepareMapped(acceptMapped(mapped), sensor, { ...judging, clock: 'server' })
  return { ...prepared, answer: { sensor_id: sensor, ...prepared.answer } }
}
