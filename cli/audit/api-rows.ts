import { randomInt } from 'node:crypto'
import type { AuditedRow } from '../../anchor/audit/leaves.ts'
import { toHundredths } from '../../core/air/hundredths.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import { trimmed, type Values } from '../../core/air/values.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import { TryAgain, WrongUsage } from '../../runtime/exit.ts'

type Options = {
  readonly url: string
  readonly key: string
  readonly headers: readonly BatchHeader[]
  readonly count: number
}

const drawRows = 20

/**
 * About `count` readings from random places as /v1 shows them to everyone: the values of the list,
 * with the number that /verify tells of each. @throws TryAgain, WrongUsage
 */
export async function* apiRows({
  url,
  key,
  headers,
  count,
}: Options): AsyncGenerator<readonly AuditedRow[]> {
  const ask = askOf(url, key)
  const held = headers.filter((header) => header.count > 0)
  for (let drawn = 0; drawn < count && held.length > 0; drawn += drawRows) {
    const header = held[randomInt(held.length)]
    if (header === undefined) return
    const { timeMinMs, timeMaxMs } = header
    const query = new URLSearchParams({
      start_time: formatIso(timeMinMs),
      end_time: formatIso(timeMinMs + randomInt(timeMaxMs - timeMinMs + 1) + 1),
      limit: String(Math.min(drawRows, count - drawn)),
    })
    const shown = listOf(await ask(`/v1/readings?${query.toString()}`), 'readings')
    yield await Promise.all(shown.map((one) => numbered(one, ask)))
  }
}

type Ask = (path: string) => Promise<unknown>

const askOf =
  (url: string, key: string): Ask =>
  async (path) => {
    const answer = await fetch(new URL(path, url), {
      headers: { authorization: `Bearer ${key}` },
    }).catch((cause: unknown) => {
      throw new TryAgain(`${url} does not answer`, { cause })
    })
    if (answer.status === 401) throw new WrongUsage(`${url} refuses AIRPROOF_API_KEY`)
    if (!answer.ok) throw new TryAgain(`${url} answers ${answer.status} to ${path}`)
    return answer.json()
  }

async function numbered(shown: unknown, ask: Ask): Promise<AuditedRow> {
  const [sensor, timestamp] = [textOf(shown, 'sensor_id'), textOf(shown, 'timestamp')]
  const timeMs = Date.parse(timestamp)
  const query = new URLSearchParams({ timestamp })
  const path = `/v1/readings/${encodeURIComponent(sensor)}/verify?${query.toString()}`
  const verified = await ask(path)
  const aqi = field(shown, 'aqi')
  return {
    // an id that is none hashes into no batch
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    sensor: sensor as AuditedRow['sensor'],
    timeMs,
    seq: Number(field(field(verified, 'reading'), 'seq')),
    values: shownValues(shown),
    aqi: typeof aqi === 'number' ? aqi : null,
  }
}

/** @param shown a reading as /v1 shows it */
export const shownValues = (shown: unknown): Values =>
  trimmed(quantityNames.map((name) => hundredthsOf(field(shown, name))))

const hundredthsOf = (value: unknown): number | null =>
  typeof value === 'number' ? (toHundredths(value) ?? null) : null

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

function textOf(value: unknown, name: string): string {
  const text = field(value, name)
  if (typeof text === 'string') return text
  throw new TryAgain(`the API answers without a "${name}": is it /v1 of airproof?`)
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = field(value, name)
  if (Array.isArray(list)) return list
  throw new TryAgain(`the API answers without "${name}": is it /v1 of airproof?`)
}
