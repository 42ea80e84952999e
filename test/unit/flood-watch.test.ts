import { expect, test } from 'vitest'
import type { Connection, Ended } from '../../gate/connections/connections.ts'
import { createFloodLedger } from '../../gate/connections/flood-ledger.ts'
import { watchFloods } from '../../gate/connections/flood-watch.ts'
import { eventually } from '../support/eventually.ts'

const id = 'NGR-LOS-IKJ-017'

/** One sensor, `open` connections of it, and a watch that learns when one ends. */
function watch(open: readonly Connection[]) {
  const stop = new AbortController()
  const floods: string[] = []
  let looks = 0
  let end: (ended: Ended) => void = () => undefined
  const done = watchFloods({
    connections: {
      page: () => {
        looks += 1
        return Promise.resolve(open)
      },
      close: () => Promise.resolve(),
    },
    isSensor: (user) => user === id,
    ledger: createFloodLedger({
      boundsOf: () => ({ perSecond: 0.001, burst: 50 }),
      onFlood: (user) => void floods.push(user),
      nowMs: () => 0,
    }),
    onEnd: (listener) => {
      end = listener
      return { [Symbol.dispose]: () => undefined }
    },
    hasOutlived: () => false,
    onOutlived: () => undefined,
    onTooMany: () => undefined,
    onFailure: (error) => {
      throw error
    },
    stop: stop.signal,
    everyMs: 1,
  })
  return {
    floods,
    end: (ended: Partial<Ended>) => end({ ...connection({}), reason: 'Client Closed', ...ended }),
    looked: () => {
      const former = looks
      return eventually('two looks more', () => looks >= former + 2)
    },
    finish: async () => {
      stop.abort()
      await done
    },
  }
}

const connection = (what: Partial<Connection>): Connection => ({
  serverId: 'N1',
  cid: 1,
  user: id,
  protocol: 'nats',
  address: '127.0.0.1',
  client: undefined,
  messages: 0,
  bytes: 0,
  ageMs: 0,
  since: '2026-01-31T05:05:00Z',
  lastActivity: '2026-01-31T05:05:00Z',
  ...what,
})

test('what was sent on connections that no look ever met is counted when they end', async () => {
  const { end, floods, finish } = watch([])
  for (let cid = 1; cid <= 4; cid++) end({ cid, messages: 10 })
  expect(floods).toEqual([])
  end({ cid: 5, messages: 10 })
  expect(floods).toEqual([id])
  await finish()
})

test('to sign in counts as a message', async () => {
  const { end, floods, finish } = watch([])
  for (let cid = 1; cid <= 51; cid++) end({ cid })
  expect(floods).toEqual([])
  end({ cid: 52 })
  expect(floods).toEqual([id])
  await finish()
})

test('what a look has counted is not counted again at the end, nor by a look that still lists it', async () => {
  const { end, looked, floods, finish } = watch([connection({ messages: 40 })])
  await looked()
  end({ messages: 45 })
  end({ messages: 45 })
  await looked()
  expect(floods).toEqual([])
  await finish()
})

test('what a connection sent in the days before we watched makes it no flood', async () => {
  const { looked, end, floods, finish } = watch([connection({ messages: 2_000, ageMs: 6e8 })])
  await looked()
  end({ cid: 2, messages: 2_000, ageMs: 6e8 })
  expect(floods).toEqual([])
  end({ cid: 1, messages: 2_060 })
  expect(floods).toEqual([id])
  await finish()
})
