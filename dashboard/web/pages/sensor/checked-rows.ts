/** Which rows of the table the reader's own browser has checked, down to the values on show. */
import { useCallback, useRef, useState } from 'preact/hooks'
import { quantityNames } from '../../../../core/air/quantities.ts'
import { AskError } from '../../data.ts'
import { getProof } from '../proof/standing.ts'
import { check } from '../proof/verifier.ts'
import type { Reading } from './sensor-data.ts'

export type RowCheck =
  | { readonly state: 'checking' }
  | { readonly state: 'checked'; readonly batch: number; readonly isTestChain: boolean }
  /** Its proof is not valid, or not of these values. */
  | { readonly state: 'failed' }

/** Proofs at once: each is about 8 KB. */
const mostAtOnce = 4

export type CheckedRows = {
  readonly of: (row: Reading) => RowCheck | undefined
  readonly check: (rows: readonly Reading[]) => void
  /** Rows that are being checked. */
  readonly left: number
}

/** A row by its values too: one that the server gives otherwise later is another row. */
const keyOf = ({ timestamp, blockchain: { hash } }: Reading): string => `${timestamp} ${hash}`

/** @returns undefined: it could not be asked for now */
async function checkRow(row: Reading): Promise<RowCheck | undefined> {
  try {
    const { sensor_id: id, timestamp, blockchain } = row
    const { bytes } = await getProof({ id, timestamp, hash: blockchain.hash })
    const { kind, facts, verification } = await check(bytes)
    const { reading } = verification
    if (kind === 'unpinned' || (kind === 'consistent' && reading === null)) return undefined
    if (kind !== 'consistent' || facts === undefined || reading === null) return { state: 'failed' }
    const isSame =
      facts.sensorId === id &&
      facts.timeMs === Date.parse(timestamp) &&
      reading.aqi === row.aqi &&
      quantityNames.every((name) => (reading[name] ?? null) === (row[name] ?? null))
    return isSame
      ? { state: 'checked', batch: facts.batch.index, isTestChain: verification.demonstration }
      : { state: 'failed' }
  } catch (error) {
    // the API says so itself: what is stored is not what was anchored
    return error instanceof AskError && error.status === 409 ? { state: 'failed' } : undefined
  }
}

export function useCheckedRows(): CheckedRows {
  const [checks, setChecks] = useState<ReadonlyMap<string, RowCheck>>(new Map())
  const latest = useRef(checks)
  latest.current = checks
  const queue = useRef<Reading[]>([])
  const running = useRef(0)
  const put = (row: Reading, result: RowCheck | undefined): void =>
    setChecks((was) => {
      const now = new Map(was)
      if (result === undefined) now.delete(keyOf(row))
      else now.set(keyOf(row), result)
      return now
    })
  const run = async (): Promise<void> => {
    running.current++
    for (let row = queue.current.shift(); row !== undefined; row = queue.current.shift())
      put(row, await checkRow(row))
    running.current--
  }
  const checkRows = useCallback((rows: readonly Reading[]): void => {
    for (const row of rows) {
      if (latest.current.has(keyOf(row)) || queue.current.includes(row)) continue
      queue.current.push(row)
      put(row, { state: 'checking' })
    }
    while (running.current < Math.min(mostAtOnce, running.current + queue.current.length))
      void run()
  }, [])
  return {
    of: (row) => checks.get(keyOf(row)),
    check: checkRows,
    left: [...checks.values()].filter(({ state }) => state === 'checking').length,
  }
}
