/** How the API says that a reading stands, and its proof once there is one. */
import { ask, getJson } from '../../data.ts'
import { proofOf, type Reading, type ReadingsPage } from '../sensor/sensor-data.ts'
import type { Bundle } from './bundle.ts'

export type Standing = {
  readonly status: 'pending' | 'anchoring' | 'verified' | 'mismatch'
  readonly reason: string | null
  readonly reading_hash: string
  readonly expected_by: string | null
  readonly proof_url: string | null
  readonly ledger: { readonly explorer_url: string } | null
}

type Wanted = { readonly id: string; readonly timestamp: string; readonly signal?: AbortSignal }

const pathOf = (id: string): string => `/data/v1/readings/${encodeURIComponent(id)}`

export async function getStanding({ id, timestamp, signal }: Wanted): Promise<Standing> {
  const query = new URLSearchParams({ timestamp })
  const answer = await ask(`${pathOf(id)}/verify?${query}`, { signal: signal ?? null })
  return answer.json()
}

/** Its values; undefined: the API does not list it. */
export async function getReading({ id, timestamp, signal }: Wanted): Promise<Reading | undefined> {
  const ms = Date.parse(timestamp)
  const [reading] = await listReadings(id, signal, {
    start_time: new Date(ms).toISOString(),
    end_time: new Date(ms + 1).toISOString(),
    limit: '1',
  })
  return reading
}

/** The page of the newest proof of a sensor; undefined: none of its newest 1,000 readings has one. */
export async function newestProof(id: string, signal: AbortSignal): Promise<string | undefined> {
  const readings = await listReadings(id, signal, { limit: '1000' })
  const anchored = readings.find(({ blockchain }) => blockchain.status === 'verified')
  return anchored && proofOf(anchored)
}

async function listReadings(
  id: string,
  signal: AbortSignal | undefined,
  more: Readonly<Record<string, string>>,
): Promise<readonly Reading[]> {
  const query = new URLSearchParams({ sensor_id: id, ...more })
  const page = await getJson<ReadingsPage>(`/data/v1/readings?${query}`, signal ? { signal } : {})
  return page.readings
}

/** @param hash that the proof must be of; '' for any */
export async function getProof({
  id,
  timestamp,
  hash,
  signal,
}: Wanted & { readonly hash: string }): Promise<Pick<Bundle, 'name' | 'bytes'>> {
  const query = new URLSearchParams({ timestamp, ...(hash === '' ? {} : { hash }) })
  const answer = await ask(`${pathOf(id)}/proof?${query}`, { signal: signal ?? null })
  return {
    name: `${id}_${timestamp.replaceAll(':', '-')}.airproof.json`,
    bytes: new Uint8Array(await answer.arrayBuffer()),
  }
}
