import type { Reading } from '../../core/air/reading.ts'
import type { ProveReading, Verdict } from '../../operate/proofs/prove-reading.ts'
import type { Asker } from '../http/answer.ts'
import { ApiError, unavailable } from '../http/api-error.ts'
import { findReading, type ReadingSources } from '../readings/stored-reading.ts'
import type { Mismatches } from './mismatches.ts'

export type ProofSources = ReadingSources & {
  readonly prove: ProveReading
  readonly mismatches: Mismatches
}

export type WantedReading = {
  readonly asker: Asker
  /** The sensor's id as the client wrote it. */
  readonly name: string
  readonly timeMs: number
}

export type ProvenReading = { readonly reading: Reading; readonly verdict: Verdict }

/**
 * A reading and where it stands now. A mismatch is reported to the operator. A reading that is
 * accepted and not stored yet is pending: without a row there is nothing to prove.
 * @throws ApiError 404 no such reading; 503 the records of the batches cannot be read now
 */
export async function provenReading(
  sources: ProofSources,
  { asker, name, timeMs }: WantedReading,
): Promise<ProvenReading> {
  const { reading, isStored } = await findReading(sources, asker, name, timeMs)
  const verdict = await orUnavailable(sources.prove(reading))
  if (verdict.status === 'mismatch') sources.mismatches.report(reading, verdict)
  return { reading, verdict: isStored ? verdict : { status: 'pending', hash: verdict.hash } }
}

/** Waits for records of batches. @throws ApiError 503 where they cannot be read now */
export async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ApiError || error instanceof TypeError) throw error
    throw unavailable('proofs_unavailable', 'the proofs cannot be read right now', error)
  }
}
