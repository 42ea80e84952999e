/** What the gate knows of a sensor: its credential, its connections, what was refused of it. */

import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { shownLine } from '../../core/shown-text.ts'
import { listRejected } from '../../operate/rejected-messages.ts'
import { askConnections, keyStateOf, type SensorAccess } from '../../operate/sensor-access.ts'
import { readEntry } from '../../runtime/nats/buckets/read-entry.ts'
import { parseCredential } from '../../schemas/devices/credential.ts'
import type { OpenConnection } from '../../schemas/devices/open-connection.ts'
import { parseSeen } from '../../schemas/devices/seen.ts'
import { buckets } from '../../schemas/subjects.ts'

export type SensorState = SensorAccess & {
  /** Open now; null: no gate answers. */
  readonly connections: readonly OpenConnection[] | null
  /** Of its newest 1,000 items that the pipeline refused, by reason. */
  readonly refused: Readonly<Record<string, number>>
}

const mostRefused = 1_000

export async function readSensorState(nc: NatsConnection, id: string): Promise<SensorState> {
  const kvm = new Kvm(nc)
  const read = async <T>(bucket: string, parse: (value: unknown) => T | undefined) =>
    parse(await readEntry(await kvm.open(bucket), id))
  const [credential, seen, connections, items] = await Promise.all([
    read(buckets.credentials, parseCredential),
    read(buckets.seen, parseSeen),
    askConnections(nc, id),
    listRejected(nc, { reasons: [], sensor: id }, mostRefused),
  ])
  const refused: Record<string, number> = {}
  for (const { reason } of items) refused[reason] = (refused[reason] ?? 0) + 1
  return {
    ...keyStateOf(credential, Date.now()),
    connections,
    seen: seen ?? {},
    refused,
  }
}

export function stateLines(state: SensorState): readonly string[] {
  const { key, key_at: keyAt, previous_key_until: until, connections, seen, refused } = state
  const { heard, left, denied } = seen
  const overlap = until === undefined ? '' : `, the former one valid until ${until}`
  const reasons = Object.entries(refused).map(([reason, count]) => `${reason} ${count}`)
  const refusedSignIns = seen.refused
  return [
    key === 'none' ? 'key        none' : `key        ${key} since ${keyAt}${overlap}`,
    ...connectionLines(connections),
    ...(heard
      ? [
          `last in    ${heard.at} over ${heard.protocol} from ${heard.address}${heard.client === undefined ? '' : ` (${heard.client})`}`,
        ]
      : ['last in    never']),
    ...(left ? [`last out   ${left.at}: ${left.reason}`] : []),
    ...(refusedSignIns
      ? [
          `refused    ${refusedSignIns.count} sign-ins, last ${refusedSignIns.at}: ${refusedSignIns.reason}`,
        ]
      : []),
    ...(denied ? [`denied     ${denied.count} publishes or subscriptions, last ${denied.at}`] : []),
    ...(seen.paused_until === undefined ? [] : [`flooded    paused until ${seen.paused_until}`]),
    `readings   ${reasons.length === 0 ? 'none refused' : `refused: ${reasons.join(', ')}`}`,
  ].map(shownLine)
}

function connectionLines(connections: SensorState['connections']): readonly string[] {
  if (connections === null) return ['connected  unknown: no gate answers']
  if (connections.length === 0) return ['connected  no']
  return connections.map(
    ({ protocol, address, client, since, lastActivity, messages }) =>
      `connected  over ${protocol} from ${address} since ${since}, last active ${lastActivity}, ${messages} messages${client === undefined ? '' : ` (${client})`}`,
  )
}
