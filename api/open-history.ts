/** Readings on disk: in the store, and in the archive where the store has let them go. */
import type { NatsConnection } from '@nats-io/transport-node'
import { type Expired, openExpired } from '../operate/archive/open-expired.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { watchRetention } from '../runtime/nats/retention.ts'
import type { Retention } from '../schemas/retention.ts'
import { openStore, type StorePlace } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'
import { openQueryStore, type QueryStore } from './http/query-store.ts'

export type History = {
  /** Without what only the archive has. */
  readonly store: Store
  readonly retention: () => Retention
  readonly expired: Expired
  readonly queryStore: QueryStore
}

type Options = {
  readonly nc: NatsConnection
  readonly config: StorePlace
  /** Of the archive. */
  readonly folder: string
}

export async function openHistory(
  { nc, config, folder }: Options,
  opened: AsyncDisposableStack,
): Promise<History> {
  const store = opened.use(await openStore(config, { readOnly: true }))
  // separate lanes: no query of a visitor is ahead of an account's
  const visitorsStore = opened.use(await openStore(config, { readOnly: true }))
  const { now: retention } = opened.use(await watchRetention(nc))
  const keccak = await createKeccak()
  const expired = openExpired({ folder, keccak, retention, atOnce: 'batch' })
  const queryStore = openQueryStore({
    accounts: expired.store(store),
    visitors: expired.store(visitorsStore),
  })
  return { store, retention, expired, queryStore }
}
