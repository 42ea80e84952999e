import type { SensorIdRules } from '../../core/air/sensor-id.ts'
import { clientIdsOf, subscriptionsOf } from '../../core/device-topics.ts'
import { type Application, isGateway } from '../../schemas/devices/application.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import type { ApplicationBook, CredentialBook } from '../credential-book.ts'
import type { SeenBook } from '../seen-book.ts'
import { allowedSubjects, gatewaySubjects } from './allowed-subjects.ts'
import type { AuthRequest } from './auth-request.ts'
import type { DeniedSignIn } from './denied-log.ts'
import type { RecentSignIns } from './recent-sign-ins.ts'
import type { SignIn } from './responder.ts'

export type DoorOptions = {
  readonly rules: SensorIdRules
  readonly book: Pick<CredentialBook, 'check' | 'untilMs'>
  /** Those that may send over NATS, by id; never one that is named like a process of ours. */
  readonly gatewayOf: (id: string) => Application | undefined
  readonly gateways: Pick<ApplicationBook, 'check' | 'untilMs'>
  readonly sensorOf: (id: string) => RegisteredSensor | undefined
  /** Resolves when memory holds what was written to the registry and the credentials. */
  readonly catchUp: () => Promise<void>
  /** Subjects that the sensor's firmware fixes. */
  readonly deviceSubjects: (sensor: RegisteredSensor) => readonly string[]
  readonly isPaused: (id: string) => boolean
  readonly seen: Pick<SeenBook, 'contacted' | 'refused'>
  readonly recent: Pick<RecentSignIns, 'add'>
  readonly count: (protocol: AuthRequest['protocol'], verdict: string) => void
  readonly logDenied: (denied: DeniedSignIn) => void
}

/**
 * Judges a sign-in. Reasons, in addition to those of a credential: `unknown` (also: not a sensor's
 * name), `unregistered` (a credential without a sensor), `client_id` (MQTT: it must be the sensor's
 * id or the one that its entry names, because a second client of the same id closes the first one's
 * connection), `protocol` (a gateway over MQTT), `paused` (it flooded).
 */
export function createDoor(options: DoorOptions): (request: AuthRequest) => Promise<SignIn> {
  const { rules, sensorOf, catchUp, seen, recent, count, logDenied } = options
  return async (request) => {
    const { user, protocol, address, client } = request
    let signIn = judge(request, options)
    // it may have been made a moment ago
    if ('denied' in signIn && mayBeOutdated.has(signIn.denied) && isDevice(user, rules)) {
      await catchUp()
      signIn = judge(request, options)
    }
    if ('denied' in signIn) {
      count(protocol, signIn.denied)
      logDenied({ user, reason: signIn.denied, protocol, address })
      if (sensorOf(user) !== undefined) seen.refused(user, signIn.denied)
    } else {
      recent.add(request)
      count(protocol, 'ok')
      if (sensorOf(user) !== undefined) seen.contacted(user, { protocol, address, client })
    }
    return signIn
  }
}

const mayBeOutdated = new Set(['unknown', 'unregistered', 'wrong'])

const isDevice = (user: string, rules: SensorIdRules): boolean =>
  rules.parse(user) !== undefined || isGateway(user)

/** Over NATS only: an answer needs a subject for the reply, which MQTT does not have here. */
function judgeGateway(
  { user, password, protocol }: AuthRequest,
  { gatewayOf, gateways, isPaused }: DoorOptions,
): SignIn {
  if (gatewayOf(user) === undefined) return { denied: 'unknown' }
  const verdict = gateways.check(user, password)
  if (verdict !== 'ok') return { denied: verdict }
  if (protocol === 'mqtt') return { denied: 'protocol' }
  if (isPaused(user)) return { denied: 'paused' }
  return { allowed: gatewaySubjects(user), untilMs: gateways.untilMs(user, password) }
}

function judge(request: AuthRequest, options: DoorOptions): SignIn {
  const { user, password, protocol, mqttId } = request
  const { rules, book, sensorOf, deviceSubjects, isPaused } = options
  if (isGateway(user)) return judgeGateway(request, options)
  const id = rules.parse(user)
  if (id === undefined) return { denied: 'unknown' }
  const verdict = book.check(id, password)
  if (verdict !== 'ok') return { denied: verdict }
  const sensor = sensorOf(id)
  if (sensor === undefined) return { denied: 'unregistered' }
  if (protocol === 'mqtt' && !clientIdsOf(id, sensor.device).includes(mqttId ?? ''))
    return { denied: 'client_id' }
  if (isPaused(id)) return { denied: 'paused' }
  return {
    // firmware with topics of its own speaks MQTT
    allowed:
      protocol === 'mqtt'
        ? allowedSubjects(id, deviceSubjects(sensor), deviceSubscriptionsOf(sensor))
        : allowedSubjects(id),
    untilMs: book.untilMs(id, password),
  }
}

const deviceSubscriptionsOf = ({ device }: RegisteredSensor): readonly string[] =>
  device === undefined ? [] : subscriptionsOf(device)
