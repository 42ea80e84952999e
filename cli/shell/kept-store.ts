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
 * Opens the store that readings are written to, whatever folder the command runs in; by the
 * settings if that was never recorded.
 * @throws MustAct if the settings name another store, or a token is missing
 */
export async function openKeptStore(
  nc: NatsConnection,
  config: SharedConfig,
  source: SettingsSource,
): Promise<{ readonly store: Store; readonly from: string }> {
  const recorded = await readKeptStore(nc)
  const settings = recorded === undefined ? config.store : settingsFor(recorded, config, source)
  const store = await openStore(settings, { readOnly: true })
  return { store, from: placeInWords(placeOf(settings)) }
}

function settingsFor(
  recorded: StorePlace,
  { store }: SharedConfig,
  source: SettingsSource,
): StoreSettings {
  const other = contradiction(recorded, store, source)
  if (other !== undefined)
    throw new MustAct(
      `the instance stores its readings in ${placeInWords(recorded)}, and ${other} of this command, or of .env here, names another place: take it out, or copy the history first (\`airproof store copy\`)`,
    )
  if (recorded.kind === 'sqlite') return recorded
  const token = store.kind === 'influx' ? store.token : readSettings(source).secret('INFLUX_TOKEN')
  if (token !== undefined) return { ...recorded, token }
  throw new MustAct(
    `the instance stores its readings in ${placeInWords(recorded)}: set INFLUX_TOKEN or INFLUX_TOKEN_FILE to read them`,
  )
}

/** The setting that names another store; those that are not set name none. */
function contradiction(
  recorded: StorePlace,
  store: StoreSettings,
  source: SettingsSource,
): string | undefined {
  const place = placeOf(store)
  if (recorded.kind === 'sqlite') return place.kind === 'influx' ? 'INFLUX_URL' : undefined
  const { text, isSet } = readSettings(source)
  if (place.kind === 'influx' && place.url !== recorded.url) return 'INFLUX_URL'
  if (isSet('INFLUX_ORG') && text('INFLUX_ORG') !== recorded.org) return 'INFLUX_ORG'
  return isSet('INFLUX_BUCKET') && text('INFLUX_BUCKET') !== recorded.bucket
    ? 'INFLUX_BUCKET'
    : undefined
}
