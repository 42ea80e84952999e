/**
 * What the notifier is compared with: a sender as they are usually written. One pool of places
 * for all, a promise per delivery, nothing durable, no limits by endpoint. It looks webhooks up
 * by sensor, signs and posts as ours does, and writes no log of attempts.
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import { bodyOf, deliveryId, occurrenceOfEvent } from '../notifier/sources/payload.ts'
import { connectNats } from '../runtime/nats/nats.ts'
import { openPull } from '../runtime/nats/pull.ts'
import { environment } from '../runtime/process/config.ts'
import { signatureHeaders } from '../runtime/webhook-signature.ts'
import { parseEvent } from '../schemas/log/event.ts'
import { eventsStream } from '../schemas/subjects.ts'

const places = 512
const timeoutMs = 15_000

type Target = { readonly id: string; readonly url: string; readonly secret: string }

const { NATS_URL: natsUrl } = environment()
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the benchmark's own words
const targets = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Readonly<
  Record<string, readonly Target[]>
>
const nc = await connectNats({ natsUrl }, { name: 'shared pool' })
const agent = new Agent({ connections: places, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })
const waiting: (() => Promise<void>)[] = []
let busy = 0

function next(): void {
  while (busy < places) {
    const work = waiting.shift()
    if (work === undefined) return
    busy++
    void work().finally(() => {
      busy--
      next()
    })
  }
}

await using events = await openPull(nc, { stream: eventsStream, fromSeq: 1, maxMessages: 200 })
process.send?.('ready')
for await (const { data } of events) {
  const event = parseEvent(data)
  if (typeof event === 'string') continue
  const occurrence = occurrenceOfEvent(event, 'aqi.high', 150)
  if (occurrence === undefined) continue
  const body = bodyOf(occurrence)
  for (const { id, url, secret } of targets[event.sensor_id] ?? targets['*'] ?? []) {
    waiting.push(async () => {
      const signed = {
        id: deliveryId(occurrence, 'aqi.high', id),
        timestampSeconds: Math.floor(Date.now() / 1_000),
        body,
      }
      const headers = signatureHeaders({ secret }, signed)
      try {
        const signal = AbortSignal.timeout(timeoutMs)
        const answer = await request(url, {
          method: 'POST',
          headers,
          body,
          dispatcher: agent,
          signal,
        })
        await answer.body.dump()
      } catch {
        // as usual: counted nowhere
      }
    })
  }
  next()
}
