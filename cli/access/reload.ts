import { openNatsAccess } from '../../runtime/engines/nats-access.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { denialInWords } from '../../runtime/nats/nats-trouble.ts'
import { askAll } from './ask-servers.ts'
import type { AccessPlace } from './places.ts'

type Options = {
  readonly urls: readonly string[]
  readonly natsPinFile: string | undefined
  readonly place: AccessPlace
  readonly stop: AbortSignal
}

const reloadSubject = (serverId: string): string => `$SYS.REQ.SERVER.${serverId}.RELOAD`
const answersWithinMs = 1_000

/**
 * Has every server of the cluster read its configuration again, as the user `system`. That closes the
 * connections of sensors, which sign in again, and of users whose password changed.
 * @returns false if `system` may not: its users are of an older version
 */
export async function reloadAll({ urls, natsPinFile, place, stop }: Options): Promise<boolean> {
  const { passwords } = openNatsAccess(place.accessFile)
  const file = place.passwordFile('system')
  const natsLogin = { user: 'system', password: passwords.system, file }
  const settings = { natsUrl: urls.join(','), natsLogin, natsPinFile }
  const nc = await connectNats(settings, { name: 'airproof access', once: true, stop })
  try {
    const ids = (await askAll(nc, 'JSZ', {})).map(({ server }) => server.id)
    // a reload may close this very connection, and then there is no answer
    const request = (id: string) => nc.request(reloadSubject(id), '', { timeout: answersWithinMs })
    const denied = (error: unknown) => denialInWords(error, undefined) !== undefined
    const isDenied = await Promise.all(ids.map((id) => request(id).then(() => false, denied)))
    return !isDenied.includes(true)
  } catch (error) {
    if (denialInWords(error, undefined) !== undefined) return false
    throw error
  } finally {
    await nc.close()
  }
}
