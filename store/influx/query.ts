import type { Transport } from '@influxdata/influxdb-client'
import { givenUp } from '../store.ts'
import { faultOfStatement, influxFault } from './fault.ts'

export type InfluxCell = number | string | null
export type Series = {
  readonly tags?: Readonly<Record<string, string>>
  readonly values: readonly (readonly InfluxCell[])[]
}

/** Bound by name (`$from`): what comes from outside never becomes part of a statement. */
export type QueryParams = Readonly<Record<string, string>>

/** @returns the series of each statement, in their order; values in the order selected */
export type InfluxQuery = (
  statements: string,
  params: QueryParams,
  signal?: AbortSignal,
) => Promise<readonly (readonly Series[])[]>

/**
 * InfluxQL over `POST /query`: a quarter of what Flux costs the server, and spoken by
 * InfluxDB 1.8, 2 and 3 alike.
 */
export const influxQuery =
  (transport: Transport, bucket: string, place: string): InfluxQuery =>
  async (statements, params, signal) => {
    const path = `/query?db=${encodeURIComponent(bucket)}&epoch=ms`
    const body = new URLSearchParams({ q: statements, params: JSON.stringify(params) }).toString()
    const where = `${place}, bucket ${bucket}`
    let answer: unknown
    if (signal?.aborted) throw givenUp()
    try {
      answer = await transport.request(path, body, {
        method: 'POST',
        // one for each request: the client never takes its listeners off
        ...(signal && { signal: AbortSignal.any([signal]) }),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          accept: 'application/json',
        },
      })
    } catch (error) {
      if (signal?.aborted) throw givenUp()
      throw influxFault(error, where)
    }
    return resultsOf(answer).map((result) => {
      if (result.error !== undefined) throw faultOfStatement(result.error, where)
      if (result.partial === true) throw faultOfStatement('the answer was cut short', where)
      return result.series ?? []
    })
  }

/**
 * A bound time is text with ms: a bare number would mean ns and find nothing, silently. Both
 * ends of every span are named, else a reading of a clock that runs ahead would be left out.
 */
export const timeParam = (timeMs: number): string =>
  new Date(Math.min(Math.max(timeMs, 0), endOfTimeMs)).toISOString()

/** After every reading there can be: see `row-fault.ts`. */
export const endOfTimeMs = Date.UTC(2200, 0, 1)

type Result = {
  readonly error?: string
  readonly partial?: boolean
  readonly series?: readonly Series[]
}

function resultsOf(answer: unknown): readonly Result[] {
  const isObject = typeof answer === 'object' && answer !== null
  if (isObject && 'error' in answer && typeof answer.error === 'string') {
    return [{ error: answer.error }]
  }
  if (isObject && 'results' in answer && Array.isArray(answer.results)) return answer.results
  return [{ error: 'no results in the answer' }]
}
