/** The NATS user `system`, of whom servers accept questions about themselves. */
import type { NatsConnection } from '@nats-io/transport-node'
import { openNatsAccess } from '../../runtime/engines/nats-access.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { type Attempt, denialInWords, natsTrouble } from '../../runtime/nats/nats-trouble.ts'
import type { AccessPlace } from './places.ts'

export type AsSystem = {
  /** Any of them answers for the whole cluster. */
  readonly urls: readonly string[]
  readonly natsPinFile?: string | undefined
  readonly place: AccessPlace
  readonly stop: AbortSignal
}

export function systemSettings({ urls, natsPinFile, place }: AsSystem): Attempt {
  const { passwords } = openNatsAccess(place.accessFile)
  const file = place.passwordFile('system')
  const natsLogin = { user: 'system', password: passwords.system, file }
  return { natsUrl: urls.join(','), natsLogin, natsPinFile }
}

/** undefined: `system` may not do it, its users are of an older version; or no server answers. */
export async function asSystem<T>(
  as: AsSystem,
  use: (nc: NatsConnection) => Promise<T>,
): Promise<T | undefined> {
  const settings = systemSettings(as)
  try {
    const nc = await connectNats(settings, { name: 'airproof access', once: true, stop: as.stop })
    try {
      return await use(nc)
    } finally {
      await nc.close()
    }
  } catch (error) {
    if (denialInWords(error, undefined) !== undefined) return undefined
    if (natsTrouble(error, settings).kind === 'silent') return undefined
    throw error
  }
}
