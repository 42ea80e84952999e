import { HttpError, type Transport } from '@influxdata/influxdb-client'
import { secondMs } from '../../core/time.ts'
import { influxFault } from './fault.ts'

type Asked = { readonly transport: Transport; readonly bucket: string; readonly place: string }

/**
 * How long the bucket keeps a row; undefined: for ever, as we make it, or the server does not say.
 * InfluxQL does not know it: `SHOW RETENTION POLICIES` of InfluxDB 2 says 0s whatever the bucket has.
 */
export async function influxRetention(asked: Asked): Promise<number | undefined> {
  const bucket = await readBucket(asked)
  const [rule] = bucket?.retentionRules ?? []
  const seconds = rule?.everySeconds ?? 0
  return seconds === 0 ? undefined : seconds * secondMs
}

type Bucket = { readonly retentionRules?: readonly { readonly everySeconds?: number }[] }

async function readBucket({ transport, bucket, place }: Asked): Promise<Bucket | undefined> {
  const path = `/api/v2/buckets?name=${encodeURIComponent(bucket)}`
  try {
    const answer: { readonly buckets?: readonly Bucket[] } = await transport.request(path, '', {
      method: 'GET',
    })
    return answer.buckets?.[0]
  } catch (error) {
    // InfluxDB 1 has no such address, and a token may be allowed less than ours
    const isUnknown = error instanceof HttpError && [401, 403, 404].includes(error.statusCode)
    if (isUnknown) return undefined
    throw influxFault(error, `${place}, ${path}`)
  }
}
