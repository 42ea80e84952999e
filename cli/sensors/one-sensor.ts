import type { NatsConnection } from '@nats-io/transport-node'
import { type SensorId, sensorIdRules } from '../../core/air/sensor-id.ts'
import { checkedId, openRegistry, type Registry } from '../../operate/sensor-registry.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import { exactWords } from '../shell/words.ts'

export const registryOf = (nc: NatsConnection, { idPrefix }: SharedConfig): Promise<Registry> =>
  openRegistry(nc, sensorIdRules(idPrefix))

/** The registry, and the id of a command whose only word is `ID`. @throws WrongUsage */
export async function openForOne(
  nc: NatsConnection,
  config: SharedConfig,
  words: readonly string[],
): Promise<{ readonly registry: Registry; readonly id: SensorId }> {
  const [text = ''] = exactWords(words, 'ID')
  const registry = await registryOf(nc, config)
  return { registry, id: checkedId(text, registry.rules) }
}
