/** Importing a list of sensors: first what it would change, then the same list again to do it. */
import type { NatsConnection } from '@nats-io/transport-node'
import { issueNewCredential } from '../../../operate/sensor-credentials.ts'
import { checkList, importList, type Planned, planImport } from '../../../operate/sensor-import.ts'
import { type ListFault, onePerSensor, readSensorCsv } from '../../../operate/sensor-list.ts'
import type { Registry } from '../../../operate/sensor-registry.ts'
import { readPublicKey } from '../../../runtime/device-key.ts'
import { MustAct, WrongUsage } from '../../../runtime/exit.ts'
import { inParallel } from '../../../runtime/in-parallel.ts'
import type { SensorEntry } from '../../../schemas/devices/sensor.ts'
import { rateBy } from '../rate-by.ts'
import { Refusal } from '../refusal.ts'
import type { DashboardRoute } from '../route.ts'
import type { WriteAudit } from './audit.ts'
import { jsonRoute, wrongFields } from './json-route.ts'
import { isShownAsWritten } from './sensor-fields.ts'

type Options = {
  readonly nc: NatsConnection
  readonly registry: Registry
  /** Of an id; also a retired sensor. Rejects while memory is not current. */
  readonly entries: () => Promise<(id: string) => SensorEntry | undefined>
  readonly idPrefix: string
  readonly audit: WriteAudit
  readonly nowMs: () => number
  readonly clockMs: () => number
}

/** Rows of one import: checking them takes about a tenth of a second, in which nothing else is done. */
export const mostRows = 5_000
/** Bytes of a request with a list. */
export const longestList = 1024 * 1024
const shownRows = 200
const shownFaults = 50
const importLimit = { perSecond: 1, burst: 60 }
const keysAtOnce = 100

export function operatorImportRoute(options: Options): DashboardRoute {
  const importing = rateBy({ limit: importLimit, clockMs: options.clockMs })
  return jsonRoute({
    method: 'POST',
    path: '/operator/api/sensors/import',
    needs: 'operator',
    longestBody: longestList,
    answer: async ({ body, session: { account }, ctx }) => {
      const { csv, isPreview, withKeys } = wanted(body)
      importing.take(account.id)
      const { listed, faults } = read(csv, options)
      if (faults.length > 0 && !isPreview) throw refusedRows(faults)
      const each = faults.length > 0 ? listed : onePerSensor(listed)
      if (faults.length === 0) await checkList(options.nc, options.registry, each)
      const plan = planImport(each, await options.entries())
      const answer = { ...planned(plan), faults: faults.slice(0, shownFaults) }
      if (isPreview) return { ...answer, fault_count: faults.length, done: false }
      const imported = await importList(options.registry, each)
      const added = plan.filter(({ outcome }) => outcome === 'new' || outcome === 'returns')
      await options.audit(account.id, 'operator_sensors_imported', ctx, {
        added: imported.created,
        changed: imported.changed,
        first: plan[0]?.id ?? '',
      })
      const keys = withKeys ? await giveKeys(options, added) : []
      return { ...answer, fault_count: 0, done: true, keys }
    },
  })
}

/** @throws Refusal 400 */
function wanted({ csv, preview, keys, ...others }: Readonly<Record<string, unknown>>) {
  const [stray] = Object.keys(others)
  if (stray !== undefined)
    throw wrongFields([
      { field: stray.slice(0, 100), expected: 'left out: there is no such field' },
    ])
  if (typeof csv !== 'string' || csv.trim() === '')
    throw wrongFields([
      { field: 'csv', expected: 'the text of a list with a first line of columns' },
    ])
  return { csv, isPreview: preview !== false, withKeys: keys === true }
}

/** @throws Refusal 400 where no row can be read */
function read(csv: string, { idPrefix, nowMs }: Options) {
  const list = {
    area: undefined,
    cadenceSeconds: undefined,
    nowMs: nowMs(),
    idPrefix,
    // a file of this machine is not read because a list names it
    deviceKeyOf,
  }
  try {
    const { listed, faults } = readSensorCsv(csv, list, mostRows)
    const odd = listed.filter(({ entry: { sites } }) =>
      sites.some(({ area, address }) => !isShownAsWritten(area) || !isShownAsWritten(address)),
    )
    const words =
      'its area or address has a character that changes the direction of text, or a line break: take it out'
    const oddFault = (id: string): ListFault => ({
      line: 0,
      code: 'text',
      given: id,
      message: `${id}: ${words}`,
    })
    return {
      listed,
      faults: [...faults, ...odd.map(({ entry: { id } }) => oddFault(id))],
    }
  } catch (error) {
    if (error instanceof MustAct) throw new Refusal(400, 'bad_list', error.message)
    throw error
  }
}

function deviceKeyOf(text: string) {
  if (text === 'none') return null
  const key = readPublicKey(text)
  if (typeof key === 'string') throw new WrongUsage(`the public key "${text.slice(0, 60)}": ${key}`)
  return key
}

const refusedRows = (faults: readonly ListFault[]): Refusal =>
  new Refusal(400, 'bad_list', `${faults.length} rows are not right: nothing was imported`, {
    details: { faults: faults.slice(0, shownFaults) },
  })

function planned(plan: readonly Planned[]) {
  const counts = { new: 0, returns: 0, changed: 0, unchanged: 0 }
  for (const { outcome } of plan) counts[outcome]++
  // what changes first
  const rows = plan.toSorted(
    (a, b) => Number(a.outcome === 'unchanged') - Number(b.outcome === 'unchanged'),
  )
  return { total: plan.length, counts, rows: rows.slice(0, shownRows) }
}

async function giveKeys(
  { registry, nowMs }: Options,
  added: readonly Planned[],
): Promise<readonly { readonly id: string; readonly key: string }[]> {
  const keys = new Map<string, string>()
  await inParallel(added, keysAtOnce, async ({ id }) => {
    keys.set(id, await issueNewCredential(registry.credentials, id, nowMs()))
  })
  return added.map(({ id }) => ({ id, key: keys.get(id) ?? '' }))
}
