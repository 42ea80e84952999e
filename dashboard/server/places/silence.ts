/** Why a sensor does not report: what the gate, the refused messages and its neighbours say. */
import type { NatsConnection } from '@nats-io/transport-node'
import { type Reporting, type SilenceFacts, whySilent } from '../../../core/state/why-silent.ts'
import { newestRejected } from '../../../operate/rejected-messages.ts'
import {
  askAccess,
  askConnections,
  type SensorAccess,
  type SensorSilence,
} from '../../../operate/sensor-access.ts'
import type { PlaceNow } from '../../place-now.ts'

type Known = Pick<SilenceFacts, 'lastMs' | 'retiredMs' | 'cadenceMs' | 'ours' | 'nowMs'> & {
  readonly id: string
  /** The whole network, and its area. */
  readonly places: Promise<readonly (PlaceNow | undefined)[]>
}

/** Asks all of it at once; of what is away, nothing is known. */
export async function readSilence(
  nc: NatsConnection,
  { id, places, ...known }: Known,
): Promise<SensorSilence> {
  const [access, connections, rejected, [network, area]] = await Promise.all([
    askAccess(nc, id),
    askConnections(nc, id),
    newestRejected(nc, id).catch(() => undefined),
    places,
  ])
  const reason = whySilent({
    ...known,
    network: network && reportingOf(network),
    area: area && reportingOf(area),
    access: access === null ? undefined : factsOf(access, connections),
    rejected: rejected && { atMs: Date.parse(rejected.arrived), reason: rejected.reason },
  })
  return { reason, access, connections, rejected: rejected ?? null }
}

export const reportingOf = ({ name, sensors, last_reading: last }: PlaceNow): Reporting => ({
  name,
  heard: sensors.total - sensors.never_reported,
  reporting: sensors.reporting,
  lastMs: last === null ? null : Date.parse(last),
})

function factsOf(
  { key, key_at: keyAt, seen }: SensorAccess,
  connections: SensorSilence['connections'],
): SilenceFacts['access'] {
  const { heard, refused, denied, paused_until: paused } = seen
  const msOf = (iso: string | undefined): number | undefined =>
    iso === undefined ? undefined : Date.parse(iso)
  return {
    key,
    keyMs: msOf(keyAt),
    connections: connections?.length,
    contactMs: msOf(heard?.at),
    hasSignedIn: heard !== undefined && heard.protocol !== 'http',
    refused: refused && { atMs: Date.parse(refused.at), reason: refused.reason },
    deniedMs: msOf(denied?.at),
    pausedUntilMs: msOf(paused),
  }
}
