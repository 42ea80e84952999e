import type { Msg } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { rawStream } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { entryOf, type TestPipeline, testPipeline } from '../support/pipeline.ts'

let pipeline: TestPipeline
beforeAll(async () => {
  pipeline = await testPipeline()
})
afterAll(() => pipeline[Symbol.asyncDispose]())

type Receipt = {
  readonly timestamp: string | null
  readonly stored: number
  readonly refused: number
}

/** What a sensor is told from now on. */
function receiptsFor(sensor: string): readonly Receipt[] {
  const reported: Receipt[] = []
  pipeline.nc.subscribe(`air.ack.${sensor}`, {
    callback: (_error, message: Msg) => void reported.push(message.json<Receipt>()),
  })
  return reported
}

const asked = (id: string) => entryOf(id, { receipts: true })
const minute = (n: number): string => `2026-01-31T06:${String(n).padStart(2, '0')}:00Z`
const reading = (n: number, over = {}) => ({ timestamp: minute(n), pm25: n, pm10: 20, ...over })
const stored = (reported: readonly Receipt[]): number =>
  reported.reduce((sum, one) => sum + one.stored, 0)

describe('a sensor that asked for receipts', () => {
  it('receives the newest timestamp that is committed, once it is', async () => {
    await pipeline.register(asked('NGR-LOS-RCP-001'))
    const reported = receiptsFor('NGR-LOS-RCP-001')
    await pipeline.publish('NGR-LOS-RCP-001', [reading(1), reading(2), reading(3)])
    const [receipt] = await eventually('a receipt', () =>
      reported.length > 0 ? reported : undefined,
    )
    expect(receipt).toEqual({ timestamp: minute(3), stored: 3, refused: 0 })
    const { accepted } = await pipeline.outcomeOf('NGR-LOS-RCP-001')
    expect(accepted).toHaveLength(3)
  })

  it('receives it again when it sends again what is stored, newest or older', async () => {
    await pipeline.register(asked('NGR-LOS-RCP-002'))
    await pipeline.publish('NGR-LOS-RCP-002', [reading(1), reading(2)])
    await pipeline.judged()
    const reported = receiptsFor('NGR-LOS-RCP-002')
    await pipeline.publish('NGR-LOS-RCP-002', reading(2))
    await eventually('the newest repeated', () => reported.length === 1)
    await pipeline.publish('NGR-LOS-RCP-002', reading(1))
    await eventually('an older one repeated', () => reported.length === 2)
    expect(reported).toEqual([
      { timestamp: minute(2), stored: 1, refused: 0 },
      { timestamp: minute(2), stored: 1, refused: 0 },
    ])
    expect(await pipeline.outcomeOf('NGR-LOS-RCP-002')).toMatchObject({ duplicates: 2 })
  })

  it('receives one for what came late when it is judged, and never an older timestamp', async () => {
    await pipeline.register(asked('NGR-LOS-RCP-003'))
    await pipeline.publish('NGR-LOS-RCP-003', reading(30))
    await pipeline.judged()
    const reported = receiptsFor('NGR-LOS-RCP-003')
    await pipeline.publish('NGR-LOS-RCP-003', [reading(10), reading(11)])
    await eventually('both late ones', () => stored(reported) === 2)
    expect(reported.map(({ timestamp }) => timestamp)).toEqual(reported.map(() => minute(30)))
  })

  it('receives how many were refused, so that it does not send them for ever', async () => {
    await pipeline.register(asked('NGR-LOS-RCP-004'))
    const reported = receiptsFor('NGR-LOS-RCP-004')
    await pipeline.publish('NGR-LOS-RCP-004', reading(1, { timestamp: '1970-01-01T00:00:10Z' }))
    await eventually('a receipt', () => reported.length === 1)
    await pipeline.publish('NGR-LOS-RCP-004', 'not JSON')
    await eventually('another', () => reported.length === 2)
    // a value was dropped, the reading counts
    await pipeline.publish('NGR-LOS-RCP-004', reading(5, { temperature: 141 }))
    await eventually('a third', () => reported.length === 3)
    expect(reported).toEqual([
      { timestamp: null, stored: 0, refused: 1 },
      { timestamp: null, stored: 0, refused: 1 },
      { timestamp: minute(5), stored: 1, refused: 0 },
    ])
  })

  it('receives after a restart what was committed just before it', async () => {
    await pipeline.register(asked('NGR-LOS-RCP-005'))
    await pipeline.publish('NGR-LOS-RCP-005', reading(7))
    await pipeline.judged()
    await pipeline.stop()
    const reported = receiptsFor('NGR-LOS-RCP-005')
    await pipeline.start()
    const receipt = { timestamp: minute(7), stored: 1, refused: 0 }
    await eventually('a receipt', () => reported.length > 0)
    expect(reported).toContainEqual(receipt)
    // what was sent meanwhile: from the new process
    await pipeline.publish('NGR-LOS-RCP-005', reading(8))
    await eventually('the next', () => reported.some(({ timestamp }) => timestamp === minute(8)))
  })
})

describe('a sensor that did not ask', () => {
  it('receives nothing until its entry asks for it, and nothing again when it no longer does', async () => {
    const id = 'NGR-LOS-RCP-006'
    const reported = receiptsFor(id)
    // of the same partition: what is told about it comes behind what would be told about the first
    const witness = Array.from({ length: 100 }, (_, i) => `NGR-LOS-RCP-${100 + i}`).find(
      (other) => partitionOf(other) === partitionOf(id),
    )
    if (witness === undefined) throw new Error(`nobody shares ${rawStream(partitionOf(id))}`)
    const seen = receiptsFor(witness)
    const untilWitnessed = async (n: number): Promise<void> => {
      const before = seen.length
      await pipeline.publish(witness, reading(n))
      await eventually('the witness has a receipt', () => seen.length > before)
    }
    await pipeline.register(entryOf(id), asked(witness))
    await pipeline.publish(id, reading(1))
    await untilWitnessed(1)
    expect(reported).toEqual([])
    await pipeline.register(asked(id))
    await eventually('it has a receipt', async () => {
      await pipeline.publish(id, reading(1))
      return reported.length > 0
    })
    await pipeline.register(entryOf(id))
    await eventually('it receives no more', async () => {
      const before = reported.length
      await pipeline.publish(id, reading(1))
      await untilWitnessed(2)
      return reported.length === before
    })
  })
})
