/** How the API says that a reading stands, and its proof once there is one. */
import { ask } from '../../data.ts'
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
