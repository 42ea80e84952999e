/** The store of the running instance, for a command that reads rows itself. */
import type { NatsConnection } from '@nats-io/transport-node'
import { MustAct } from '../../runtime/exit.ts'
import {
  placeInWords,
  placeOf,
  type StorePlace,
  type StoreSettings,
} from '../../runtime/machine/store-place.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import { readKeptStore } from '../../runtime/process/kept-store.ts'
import { readSettings, type SettingsSource } from '../../runtime/settings.ts'
import { openStore } from '../../store/open-store.ts'
import type { Store } from '../../store/store.ts'

/**
 * Opens what readings are written to, whatever folder the command runs in; by the settings if that
 * was never written down.
 * @throws MustAct if the settings name another store, or a token is missing
 */
export async function openKeptStore(
  nc: NatsConnection,
  config: SharedConfig,
  source: SettingsSource,
): Promise<{ readonly store: Store; readonly from: string }> {
  const kept = await readKeptStore(nc)
  const settings = kept === undefined ? config.store : settingsFor(kept, config, source)
  const store = await openStore(settings, { readOnly: true })
  return { store, from: placeInWords(placeOf(settings)) }
}

function settingsFor(
  kept: StorePlace,
  { store }: SharedConfig,
  source: SettingsSource,
): StoreSettings {
  const other = contradiction(kept, store, source)
  if (other !== undefined)
    throw new MustAct(
      `the instance keeps its readings in ${placeInWords(kept)}, and ${other} of this command says otherwise: take it away`,
    )
  if (kept.kind === 'sqlite') return kept
  const token = store.kind === 'influx' ? store.token : readSettings(source).secret('INFLUX_TOKEN')
  if (token !== undefined) return { ...kept, token }
  throw new MustAct(
    `the instance keeps its readings in ${placeInWords(kept)}: set INFLUX_TOKEN or INFLUX_TOKEN_FILE to read them`,
  )
}

/** The setting that names another store; those that are not set name none. */
function contradiction(
  kept: StorePlace,
  store: StoreSettings,
  source: SettingsSource,
): string | undefined {
  const place = placeOf(store)
  if (kept.kind === 'sqlite') return place.kind === 'influx' ? 'INFLUX_URL' : undefined
  const { text } = readSettings(source)
  if (place.kind === 'influx' && place.url !== kept.url) return 'INFLUX_URL'
  if ((text('INFLUX_ORG') ?? kept.org) !== kept.org) return 'INFLUX_ORG'
  return (text('INFLUX_BUCKET') ?? kept.bucket) === kept.bucket ? undefined : 'INFLUX_BUCKET'
}
