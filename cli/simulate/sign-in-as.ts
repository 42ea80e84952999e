import type { KV } from '@nats-io/kv'
import { secondMs } from '../../core/time.ts'
import { issueUnlessRevoked } from '../../operate/sensor-credentials.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import type { CommandContext } from '../shell/command.ts'
import type { FleetOptions } from './fleet.ts'

/** After an outage all reconnect within this. */
const jitterMs = 5 * secondMs

type Options = Omit<Parameters<typeof connectNats>[0], 'natsLogin'> &
  Pick<CommandContext, 'note' | 'stop'>

/**
 * Each sensor signs in with a credential that is made for this run. One whose credential the operator
 * has revoked stays out.
 * @param credentials bucket `credentials`
 */
export const signInAs =
  (credentials: KV, { note, stop, ...settings }: Options): NonNullable<FleetOptions['connectAs']> =>
  async (id) => {
    const password = await issueUnlessRevoked(credentials, id, Date.now())
    if (password === undefined) {
      note(`${id} sends nothing: its key was revoked; \`airproof sensors key ${id}\` ends that`)
      return undefined
    }
    const natsLogin = { user: id, password }
    return await connectNats({ ...settings, natsLogin }, { name: id, jitterMs, stop })
  }
