/**
 * The addresses that existing firmware posts to, one per format; each sensor with its credential.
 */

import { BoundedMap } from '../../core/bounded-map.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import type { Device } from '../../schemas/devices/sensor.ts'
import { airrohrChipOf, mapAirrohr } from '../devices/airrohr.ts'
import { type Frozen, leaveOutFrozen } from '../devices/frozen.ts'
import { isObject, type Mapped } from '../devices/mapped.ts'
import { mapPurpleair, purpleairSerialOf } from '../devices/purpleair.ts'
import { mapSensorCommunity } from '../devices/sensor-community.ts'
import { chipIdOf } from '../devices/value-list.ts'
import type { Endpoint, Judging, PushRequest } from './endpoint.ts'
import { acceptMapped, prepareMapped } from './prepare-mapped.ts'
import { PushError } from './push-error.ts'
import { oneJson } from './read-body.ts'

type Format = {
  readonly name: string
  readonly map: (request: PushRequest) => Mapped
  /** Kinds of the registry whose serial such a device sends. */
  readonly kinds: readonly Device['kind'][]
  /** The serials in a request, if any. */
  readonly serials: (request: PushRequest) => readonly (string | undefined)[]
  /** The serial as it compares. */
  readonly normal: (serial: string) => string
  /** Whether a dead particle sensor may continue to repeat its last sample. */
  readonly mayFreeze: boolean
}

const chip = {
  kinds: ['airrohr', 'sensor-community'],
  serials: ({ body, header }: PushRequest) => [airrohrChipOf(body), header('x-sensor')],
  normal: chipIdOf,
  mayFreeze: true,
} as const

const formats: readonly Format[] = [
  { name: 'airrohr', map: ({ body }) => mapAirrohr(body), ...chip },
  {
    name: 'sensor-community',
    map: ({ body, header }) => mapSensorCommunity(body, header('x-pin') ?? header('pin')),
    ...chip,
  },
  {
    name: 'purpleair',
    map: ({ body }) => mapPurpleair(body),
    kinds: ['purpleair'],
    serials: ({ body }) => {
      const id = isObject(body) ? body['SensorId'] : undefined
      return [typeof id === 'string' ? id : undefined]
    },
    normal: purpleairSerialOf,
    mayFreeze: false,
  },
]

type Options = Judging & {
  readonly sensorOf: (id: string) => RegisteredSensor | undefined
  /** Sensors whose last particle values are remembered. */
  readonly most?: number
}

export function deviceEndpoints({
  sensorOf,
  most = 100_000,
  ...judging
}: Options): readonly Endpoint[] {
  const frozen = new BoundedMap<string, Frozen>(most)
  return formats.map(({ name, map, mayFreeze, ...format }) => ({
    name,
    caller: 'sensor',
    body: oneJson,
    keeps: true,
    prepare: (request) => {
      const sensor = knownSensor(request.caller, sensorOf)
      checkSerial(sensor, request, format)
      let reading = acceptMapped(map(request))
      if (mayFreeze) {
        const judged = leaveOutFrozen(frozen.get(sensor.id), reading)
        reading = judged.reading
        if (judged.frozen !== undefined) frozen.set(sensor.id, judged.frozen)
      }
      return prepareMapped(reading, sensor, { ...judging, clock: 'device' })
    },
  }))
}

/** @throws PushError 403 */
export function knownSensor(
  id: string,
  sensorOf: (id: string) => RegisteredSensor | undefined,
): RegisteredSensor {
  const sensor = sensorOf(id)
  if (sensor !== undefined) return sensor
  throw new PushError(403, 'unknown_sensor', `${id} has a credential, but is not in the registry`)
}

/** A credential put into the wrong device would mix up two places. @throws PushError 400 */
function checkSerial(
  { id, device }: RegisteredSensor,
  request: PushRequest,
  { kinds, serials, normal }: Pick<Format, 'kinds' | 'serials' | 'normal'>,
): void {
  if (device === undefined || !kinds.includes(device.kind)) return
  const other = serials(request).find(
    (serial) => serial !== undefined && normal(serial) !== normal(device.serial),
  )
  if (other === undefined) return
  const given = other.slice(0, 64)
  throw new PushError(
    400,
    'wrong_device',
    `${id} is the device ${device.serial} in the registry, and this is ${given}`,
    { details: { given, expected: device.serial } },
  )
}
