/** What an InfluxDB 2 lacks for the store, without writing a row. */
import type { Transport } from '@influxdata/influxdb-client'
import { dayMs } from '../../core/time.ts'
import { influxClient } from './client.ts'
import { answerOf, influxFault } from './fault.ts'
import { rollupBucketOf } from './influx.ts'
import { influxQuery } from './query.ts'
import { influxRetention } from './retention.ts'

export type InfluxFault = {
  readonly what: string
  readonly fix: string
  /** The store works without it. */
  readonly isMinor?: true
}

export type InfluxExamined = { readonly words: string; readonly faults: readonly InfluxFault[] }

type Examined = {
  readonly url: string
  readonly token: string
  readonly org: string
  readonly bucket: string
}

type Asking = { readonly transport: Transport; readonly place: string; readonly org: string }

/** @throws StoreUnavailable, StoreMisconfigured if no InfluxDB answers at all */
export async function examineInflux(
  { bucket, ...options }: Examined,
  withinMs: number,
): Promise<InfluxExamined> {
  using client = influxClient({ ...options, queryTimeoutMs: withinMs, writeTimeoutMs: withinMs })
  const { place, queries: transport } = client
  const asking = { transport, place, org: options.org }
  const version = await versionOf(asking)
  const names = [bucket, rollupBucketOf(bucket)]
  const faults = await Promise.all(names.map((name) => bucketFaults(asking, name)))
  const wide = await scopeFaults(asking)
  return {
    words: `${place} ${version}, buckets ${names.join(' and ')}`,
    faults: [...faults.flat(), ...wide],
  }
}

/** Answered without a token. */
async function versionOf({ transport, place }: Asking): Promise<string> {
  const path = '/health'
  try {
    const health: { readonly version?: string } = await transport.request(path, '', {
      method: 'GET',
    })
    return health.version ?? 'of an unknown version'
  } catch (error) {
    throw influxFault(error, `${place}, ${path}`)
  }
}

const makesBoth =
  '`airproof store setup` makes both buckets and tokens that may use them and nothing else'

async function bucketFaults(asking: Asking, bucket: string): Promise<readonly InfluxFault[]> {
  const { transport, place } = asking
  try {
    await influxQuery(
      transport,
      bucket,
      place,
    )('SELECT seq FROM reading WHERE time >= $at AND time < $at', {
      at: '1970-01-01T00:00:00.000Z',
    })
  } catch (error) {
    return [{ what: inWords(error), fix: makesBoth }]
  }
  const [retentionMs, writing] = await Promise.all([
    influxRetention({ transport, bucket, place }),
    writeFault(asking, bucket),
  ])
  return [
    ...(writing === undefined ? [] : [writing]),
    ...(retentionMs === undefined
      ? []
      : [
          {
            what: `bucket ${bucket} deletes what is older than ${Math.round(retentionMs / dayMs)} days`,
            fix: 'let it keep rows for ever (`influx bucket update --retention 0`): AIRPROOF_RAW_DAYS lets old readings go once the archive has them',
            isMinor: true as const,
          },
        ]),
  ]
}

/** A write without any row: the server looks at the token first, and then refuses the empty body. */
async function writeFault(
  { transport, place, org }: Asking,
  bucket: string,
): Promise<InfluxFault | undefined> {
  const query = new URLSearchParams({ org, bucket, precision: 'ms' }).toString()
  try {
    await transport.request(`/api/v2/write?${query}`, '', { method: 'POST' })
    return undefined
  } catch (error) {
    const answer = answerOf(error)
    if (answer === undefined) throw influxFault(error, `${place}, bucket ${bucket}`)
    if (![401, 403, 404].includes(answer.status)) return undefined
    return {
      what: `INFLUX_TOKEN may not write to bucket ${bucket}; the API needs no more, the pipeline does`,
      fix: makesBoth,
      isMinor: true,
    }
  }
}

/** Only a token that may do more than ours can list tokens. */
async function scopeFaults({ transport }: Asking): Promise<readonly InfluxFault[]> {
  try {
    const answer: { readonly authorizations?: readonly unknown[] } = await transport.request(
      '/api/v2/authorizations',
      '',
      { method: 'GET' },
    )
    if ((answer.authorizations ?? []).length === 0) return []
  } catch (error) {
    // refused, as it should be; what is away was found before
    if (answerOf(error) !== undefined) return []
    throw error
  }
  return [
    {
      what: 'INFLUX_TOKEN may do more than read and write the two buckets: it lists tokens',
      fix: makesBoth,
      isMinor: true,
    },
  ]
}

const inWords = (error: unknown): string => (error instanceof Error ? error.message : String(error))
