/** The processes after the sign-in: the pipeline and the API, as their own users of the server. */
import { hash, randomBytes } from 'node:crypto'
import { Kvm } from '@nats-io/kv'
import { run as apiMain } from '../../api/main.ts'
import { apiKeyPrefix, makeKey } from '../../core/access/api-key.ts'
import { formatIso } from '../../core/iso-time.ts'
import { dayMs } from '../../core/time.ts'
import { run as pipelineMain } from '../../pipeline/main.ts'
import type { OwnUser } from '../../runtime/engines/nats-users.ts'
import { openLog } from '../../runtime/log.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import type { ProcessMain } from '../../runtime/process/process.ts'
import type { Account, KeyRecord } from '../../schemas/people/account.ts'
import { buckets } from '../../schemas/subjects.ts'
import { eventually } from './eventually.ts'
import type { Guarded } from './gate.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type GuardedCity = AsyncDisposable & {
  /** `/v1/…`, with a key. */
  readonly get: (path: string) => Promise<unknown>
}

export async function guardedCity(nats: Guarded): Promise<GuardedCity> {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(temporaryFolder())
  const apiPort = await freePort()
  const key = await newKey(nats)

  const start = async (user: OwnUser, main: ProcessMain): Promise<void> => {
    const adminPort = await freePort()
    const { file } = nats.login(user)
    const { NATS_PIN_FILE: pin } = nats.gateEnv
    const env = {
      NATS_URL: nats.url,
      ...(pin === undefined ? {} : { NATS_PIN_FILE: pin }),
      NATS_USER: user,
      NATS_PASSWORD_FILE: file,
      AIRPROOF_DATA: folder.path,
      AIRPROOF_ADMIN_PORT: String(adminPort),
      AIRPROOF_API_PORT: String(apiPort),
    }
    const source = { env, flags: {} }
    const stop = new AbortController()
    const log = openLog({ name: user, level: 'silent' })
    const ended = main({ config: readSharedConfig(source), ...source, log, stop: stop.signal })
    opened.defer(async () => {
      stop.abort('test')
      await ended
    })
    await Promise.race([
      ended,
      eventually(`${user} is ready`, async () => {
        const answer = await fetch(`http://127.0.0.1:${adminPort}/ready`, {
          headers: { connection: 'close' },
        }).catch(() => undefined)
        await answer?.text()
        return answer?.ok
      }),
    ])
  }
  await start('pipeline', pipelineMain)
  await start('api', apiMain)
  const resources = opened.move()
  return {
    get: async (path) => {
      const headers = { authorization: `Bearer ${key}`, connection: 'close' }
      const answer = await fetch(`http://127.0.0.1:${apiPort}${path}`, { headers })
      return await answer.json()
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

async function newKey({ nc }: Guarded): Promise<string> {
  const kvm = new Kvm(nc)
  const [accounts, keys] = [await kvm.open(buckets.accounts), await kvm.open(buckets.keys)]
  const nowMs = Date.now()
  const account: Account = {
    id: 'account-1',
    email: 'vendor@example.org',
    name: 'Vendor',
    tier: 'premium',
    role: 'user',
    created_at: formatIso(nowMs),
  }
  const key = makeKey(apiKeyPrefix, randomBytes(64))
  const record: KeyRecord = {
    id: 'key-1',
    account: account.id,
    name: 'test',
    hint: key.slice(0, 8),
    created_at: formatIso(nowMs),
    expires_at: formatIso(nowMs + 90 * dayMs),
  }
  await accounts.put(account.id, JSON.stringify(account))
  await keys.put(hash('sha256', key), JSON.stringify(record))
  return key
}
