import { InfluxDB } from '@influxdata/influxdb-client'
import { describe, expect, test } from 'vitest'
import { hourMs } from '../../core/time.ts'
import { openInfluxStore } from '../../store/influx/influx.ts'
import { influxMissing, testInflux } from '../support/influx.ts'

const missing = await influxMissing()

describe.skipIf(missing !== undefined)(
  `InfluxDB${missing === undefined ? '' : `: ${missing}`}`,
  () => {
    test('a bucket with a retention says since when it keeps rows, and one without keeps all', async () => {
      await using influx = await testInflux()
      const { url, org, bucket, newReadToken } = await influx.newBucket()
      const nowMs = Date.UTC(2026, 2, 1, 12)
      const keptFromMs = async () => {
        const place = { url, org, bucket, now: () => nowMs }
        await using store = await openInfluxStore({ ...place, token: await newReadToken() })
        return await store.keptFromMs()
      }
      expect(await keptFromMs()).toBeUndefined()
      const { transport } = new InfluxDB({ url, token: influx.operatorToken })
      const found: { buckets: { id: string }[] } = await transport.request(
        `/api/v2/buckets?name=${bucket}`,
        '',
        { method: 'GET' },
      )
      const id = found.buckets[0]?.id
      const rule = {
        type: 'expire',
        everySeconds: 36 * 3_600 + 90,
        shardGroupDurationSeconds: 3_600,
      }
      await transport.request(
        `/api/v2/buckets/${id}`,
        { retentionRules: [rule] },
        { method: 'PATCH' },
      )
      expect(await keptFromMs()).toBe(nowMs - 36 * hourMs - 90_000)
    })
  },
)
