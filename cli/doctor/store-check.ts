import { existsSync } from 'node:fs'
import {
  isSameStore,
  placeInWords,
  placeOf,
  type StoreSettings,
} from '../../runtime/machine/store-place.ts'
import { copyFirst, readKeptStore } from '../../runtime/process/kept-store.ts'
import { readSettings } from '../../runtime/settings.ts'
import { examineInflux } from '../../store/influx/examine.ts'
import { errorOf, faultOf } from '../../store/sqlite/fault.ts'
import { openSqliteFile } from '../../store/sqlite/file.ts'
import type { Check, World } from './check.ts'
import { broken, brokenBy, type Finding, ok, orOk, warning } from './finding.ts'

/** Within the time of a check. */
const influxWithinMs = 1_500

export const storeCheck: Check = {
  name: 'store',
  needs: 'nothing',
  isBeforeUp: true,
  run: async (world) => {
    const { store } = world.config
    const [itself, recorded] = await Promise.all([
      store.kind === 'influx' ? influxFindings(store) : sqliteFindings(store),
      recordedFindings(world),
    ])
    return [...recorded, ...itself]
  },
}

async function influxFindings(
  store: StoreSettings & { kind: 'influx' },
): Promise<readonly Finding[]> {
  const { words, faults } = await examineInflux(store, influxWithinMs)
  return orOk(
    faults.map(({ what, fix, isMinor }) => (isMinor ? warning : broken)(what, fix)),
    words,
  )
}

function sqliteFindings({ file }: StoreSettings & { kind: 'sqlite' }): readonly Finding[] {
  if (!existsSync(file)) return [ok(`${file}: made at the first start`)]
  try {
    // not in the store's threads, which take seconds to start on a machine that has no time
    openSqliteFile(file, true)[Symbol.dispose]()
    return [ok(file)]
  } catch (thrown) {
    const error = errorOf(faultOf(thrown, file))
    const isOlder = error instanceof Error && error.name === 'StoreUnavailable'
    return [isOlder ? warning(error.message) : { ...brokenBy(error), fix: restore }]
  }
}

const restore = 'if the file is damaged, stop the pipeline and restore it from a backup'

/** Another store than the one that holds the history. */
async function recordedFindings({ config, source, nats }: World): Promise<readonly Finding[]> {
  const nc = await nats().catch(() => undefined)
  const recorded = nc && (await readKeptStore(nc).catch(() => undefined))
  if (recorded === undefined || isSameStore(recorded, placeOf(config.store))) return []
  const kept = `readings are kept in ${placeInWords(recorded)}`
  if (recorded.kind === 'influx' && !readSettings(source).isSet('INFLUX_URL'))
    return [
      warning(`${kept}, and INFLUX_URL is not set here`, 'set INFLUX_URL and INFLUX_TOKEN_FILE'),
    ]
  return [
    broken(
      `${kept}, and the settings name ${placeInWords(placeOf(config.store))}`,
      `${copyFirst(recorded.kind, config.store.kind)}set INFLUX_URL, INFLUX_ORG and INFLUX_BUCKET as they were; or start once with --store-changed, and history stays in the old store`,
    ),
  ]
}
