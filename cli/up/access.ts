import type { NatsAccess } from '../../runtime/engines/nats-access.ts'
import { airUsers } from '../../runtime/engines/nats-users.ts'
import type { Environment } from '../../runtime/settings.ts'

/** What a process of ours is told so that it signs in to our NATS as itself. */
export function loginFor(name: string, { passwords, issuerSeed }: NatsAccess): Environment {
  // the simulated city gives its sensors credentials, as an operator does
  const user = name === 'simulate' ? 'operator' : airUsers.find((known) => known === name)
  if (user === undefined) return {}
  const login = { NATS_USER: user, NATS_PASSWORD: passwords[user] }
  if (user !== 'gate') return login
  return {
    ...login,
    NATS_CALLOUT_USER: 'callout',
    NATS_CALLOUT_PASSWORD: passwords.callout,
    NATS_SYSTEM_USER: 'system',
    NATS_SYSTEM_PASSWORD: passwords.system,
    AIRPROOF_CALLOUT_SEED: issuerSeed,
  }
}
