/** `reading.anchored`: each reading once its batch is final, whatever is killed or trimmed. */
import { jetstreamManager } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { createTrimmer } from '../../anchor/trim.ts'
import { secondMs } from '../../core/time.ts'
import { deliveryOwner } from '../../operate/webhooks/delivery-owner.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { pause } from '../../runtime/pause.ts'
import { buckets, readingsStream } from '../../schemas/subjects.ts'
import { payloadSchemas } from '../../schemas/webhooks/webhook-payload.ts'
import { anchorInstance } from '../support/chain/anchor-instance.ts'
import { seededChance } from '../support/chain/chance.ts'
import { logWriter } from '../support/chain/log-writer.ts'
import { putSnapshot } from '../support/chain/put-snapshot.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { putWebhook, startNotifier } from '../support/notifier.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const partitions = [0, 1, 2]
const events = ['reading.anchored' as const]
const settings = { AIRPROOF_WEBHOOK_RATE: '1000', AIRPROOF_PUBLIC_URL: 'https://air.example' }
const patiently = { everyMs: 50 }

type Batches = Awaited<ReturnType<typeof anchorInstance>>['batches']

/** Trims as the anchor does, but each second: READINGS is deleted as soon as no process needs it. */
function trimOften(nc: NatsConnection, system: KV, batches: Batches, stop: AbortSignal) {
  let keptFrom = 0
  const lastOf = (index: number): number => batches.get(index)?.header.last ?? 0
  const finalLast = (): number => {
    let index = batches.last()
    while (index > 0 && batches.anchored(index)?.status !== 'final') index--
    return lastOf(index)
  }
  const trim = createTrimmer({
    nc,
    system,
    finalLast,
    nowMs: Date.now,
    kept: { forMs: 0, bytes: 0 },
  })
  const round = async (): Promise<void> => {
    const { state } = await (await jetstreamManager(nc)).streams.info(readingsStream)
    const position = state.last_seq
    await system.put('rollup', JSON.stringify({ position, dirty: [], dirtyDays: [] }))
    for (const partition of partitions) await putSnapshot(nc, { partition, seq: position })
    keptFrom = (await trim()) ?? keptFrom
  }
  const done = (async () => {
    while (!stop.aborted) {
      // the server is killed too
      await round().catch(() => undefined)
      await pause(secondMs, stop)
    }
  })()
  return { done, keptFrom: () => keptFrom }
}

test('each reading is delivered once its batch is final, through kills of any process while READINGS is trimmed', async () => {
  using folder = temporaryFolder()
  using notifierFolder = temporaryFolder()
  await using opened = new AsyncDisposableStack()
  const nats = opened.use(await testNats({ syncAlways: true }))
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const receiver = opened.use(await startReceiver())
  const instance = await anchorInstance({ nc, natsUrl: nats.url, folder: folder.path, opened })
  const { batches, mine } = instance
  const system = await new Kvm(nc).open(buckets.system)
  const ending = new AbortController()
  const trimming = trimOften(nc, system, batches, ending.signal)
  opened.defer(async () => {
    ending.abort()
    await trimming.done
  })

  const startIt = () => startNotifier(nats.url, notifierFolder.path, settings)
  let notifier = await startIt()
  opened.defer(() => notifier[Symbol.asyncDispose]())
  const sensor_id = 'NGR-LOS-TST-002'
  const all = await putWebhook(nc, { url: `${receiver.url}/all`, events, shard: 0 })
  await putWebhook(nc, { url: `${receiver.url}/one`, events, filters: { sensor_id }, shard: 1 })
  await putWebhook(nc, { url: `${receiver.url}/no`, events, filters: { area: 'Yaba' }, shard: 2 })
  // before the first batch is final: each owner must have reported its needs before
  for (const shard of [0, 1, 2])
    await eventually('READINGS is reported as needed from its start', async () => {
      const needed = await system.get(`needed.notifier.${shard}`)
      return needed?.json<{ readings: number | null }>().readings === 1
    })

  const log = logWriter(nc)
  const chance = seededChance(5)
  const kills = {
    notifier: async () => {
      notifier.child.kill('SIGKILL')
      await notifier.child.exited
      notifier = await startIt()
    },
    anchor: instance.killAnchor,
    chain: instance.killChain,
    server: async () => {
      await nats.kill()
      await nats.restart()
      await eventually('NATS is back', () => nc.rtt().catch(() => undefined))
    },
  }
  const victims = ['notifier', 'anchor', 'server', 'notifier', 'chain', 'notifier'] as const
  let last = 0
  for (const victim of victims) {
    for (const partition of partitions) {
      last = await log.write({ readings: 8, partition })
      await mine()
    }
    // somewhere between "read" and "final", another place each time
    const deadlineMs = performance.now() + chance() * 1_500
    while (performance.now() < deadlineMs) await mine()
    await kills[victim]()
  }
  await eventually(
    'everything is final',
    async () => {
      await mine()
      return await instance.isFinal(last)
    },
    patiently,
  )
  const at = (path: string) => receiver.received.filter((one) => one.path === `/hook/${path}`)
  const seqsAt = (path: string) => new Set(at(path).map(({ json }) => Number(json.data['seq'])))
  await eventually('all are delivered', () => seqsAt('all').size === log.written.length, patiently)
  const ofOne = log.written.filter(({ sensor }) => sensor === sensor_id)
  await eventually('and those of one sensor to the webhook with that filter', () => {
    return seqsAt('one').size === ofOne.length
  })
  expect(seqsAt('all')).toEqual(new Set(log.written.map(({ seq }) => seq)))
  expect(seqsAt('one')).toEqual(new Set(ofOne.map(({ seq }) => seq)))
  expect(ofOne.length).toBeGreaterThan(1)
  expect(at('no')).toEqual([])

  // a repeat has the same id and the same bytes, and another reading another id
  const bodies = new Map(at('all').map(({ id, body }) => [id, body.toString()]))
  expect(bodies.size).toBe(log.written.length)
  for (const { id, body } of at('all')) expect(body.toString()).toBe(bodies.get(id))
  const isPayload = new Ajv({ allowUnionTypes: true }).compile(payloadSchemas['reading.anchored'])
  for (const { json } of at('all')) {
    expect([isPayload(json), isPayload.errors]).toEqual([true, null])
    const { batch_index, tx_hash, merkle_root, proof_url, hash } = json.data
    // not the block: a chain after a reorganisation has the same transactions in other blocks
    expect(tx_hash).toBe(batches.anchored(Number(batch_index))?.tx)
    expect(merkle_root).toBe(batches.get(Number(batch_index))?.header.root)
    expect(proof_url).toMatch(`https://air.example/proof/NGR-LOS-TST-`)
    expect(proof_url).toMatch(new RegExp(`\\?hash=${String(hash)}$`))
  }
  // delivered readings are not needed any more, and READINGS was trimmed all the while
  const lastOfFirst = last - partitions.length
  await eventually('it is trimmed', () => trimming.keptFrom() > lastOfFirst, patiently)

  // a reading that is not stored cannot be sent again; one that is has the same id
  const owner = deliveryOwner(nc)
  const keyOf = (seq: number, place: number): string => `reading.anchored-${seq}-${place}`
  const again = await owner.replay(all.id, keyOf(last, 0))
  expect(bodies.has(again)).toBe(true)
  await expect(owner.replay(all.id, keyOf(1, 0))).rejects.toThrow('sent again')
})
