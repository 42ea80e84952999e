import { MustAct } from '../../runtime/exit.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { denialInWords, natsTrouble, shownUrl } from '../../runtime/nats/nats-trouble.ts'
import { type AsSystem, systemSettings } from './as-system.ts'

/**
 * `reloaded`: the server answered that it did; `asked`: its answer did not arrive, as the reload closed our
 * connection, or it is busy; `denied`: `system` may not, its users are of an older version;
 * `silent`: it does not answer, so it was not asked.
 */
export type Reloaded = 'reloaded' | 'asked' | 'denied' | 'silent'

const reloadSubject = (serverId: string): string => `$SYS.REQ.SERVER.${serverId}.RELOAD`
const answersWithinMs = 2_000

/**
 * Has one server read its configuration again, as the user `system`. That closes the connections of its
 * sensors, which sign in again, and of its users whose password changed.
 * @throws MustAct its configuration has an error, and it goes on with the former one
 */
export async function reloadServer(url: string, as: AsSystem): Promise<Reloaded> {
  const settings = systemSettings({ ...as, urls: [url] })
  const options = { name: 'airproof access', once: true, stop: as.stop }
  const nc = await connectNats(settings, options).catch((error: unknown) => {
    if (natsTrouble(error, settings).kind === 'silent') return undefined
    throw error
  })
  if (nc === undefined) return 'silent'
  try {
    const subject = reloadSubject(nc.info?.server_id ?? '')
    const answer = await nc.request(subject, '', { timeout: answersWithinMs })
    const { error } = answer.json<{ readonly error?: { readonly description?: string } }>()
    if (error === undefined) return 'reloaded'
    throw new MustAct(
      `${shownUrl(url)} refuses its configuration, and goes on with the former one: ${error.description ?? 'without a reason'}. Correct it there, and run \`airproof access --finish\` again`,
    )
  } catch (error) {
    if (error instanceof MustAct) throw error
    return denialInWords(error, undefined) === undefined ? 'asked' : 'denied'
  } finally {
    await nc.close()
  }
}
