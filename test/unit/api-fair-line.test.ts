import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ApiError } from '../../api/http/api-error.ts'
import { type FairLine, type FairLineBounds, fairLine } from '../../api/http/fair-line.ts'
import { openQueryStore } from '../../api/http/query-store.ts'
import { streamPlaces } from '../../api/stream/stream-places.ts'
import type { Store } from '../../store/store.ts'

const bounds: FairLineBounds = { running: 2, runningEach: 1, waiting: 4, waitingEach: 3 }

/** Work that ends when the test says so, and the outcome of each request. */
function testLine(line: FairLine) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const refused = new Map<string, string>()
  const signals = new Map<string, AbortSignal>()
  const ask = (name: string, gone = new AbortController()): AbortController => {
    line({ share: name.charAt(0), gone: gone.signal }, (signal) => {
      begun.push(name)
      signals.set(name, signal)
      return new Promise<void>((resolve) => ends.set(name, resolve))
    }).catch((error: ApiError) => refused.set(name, `${error.status} ${error.code}`))
    return gone
  }
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.()
    await turn()
  }
  return { ask, end, begun, refused, signals }
}

const turn = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('places go round the shares, however much one of them sends', async () => {
  const { ask, end, begun } = testLine(fairLine({ ...bounds, running: 1 }))
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) ask(name)
  for (const name of ['a1', 'a2', 'b1', 'c1']) await end(name)
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3'])
})

test('a share has no more at once than its bound, even if there is room', async () => {
  const { ask, end, begun } = testLine(fairLine(bounds))
  for (const name of ['a1', 'a2', 'b1']) ask(name)
  expect(begun).toEqual(['a1', 'b1'])
  await end('a1')
  expect(begun).toEqual(['a1', 'b1', 'a2'])
})

test('a full line accepts a new share, and the newest request of the longest share gets a 503', async () => {
  const { ask, begun, refused } = testLine(fairLine({ ...bounds, running: 1 }))
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1']) ask(name)
  await turn()
  // its own line is full
  expect([...refused]).toEqual([['a5', '503 overloaded']])
  ask('c1')
  await turn()
  expect(refused.get('a4')).toBe('503 overloaded')
  for (const name of ['d1', 'e1']) ask(name)
  await turn()
  // no share has more than the new one would have
  expect(refused.get('a3')).toBe('503 overloaded')
  expect(refused.get('e1')).toBe('503 overloaded')
  expect(begun).toEqual(['a1'])
})

test('a client that disconnects leaves the line, or has its work aborted, and is not 503', async () => {
  const { ask, end, begun, refused, signals } = testLine(fairLine({ ...bounds, running: 1 }))
  const first = ask('a1')
  const second = ask('b1')
  ask('c1')
  second.abort()
  first.abort()
  await turn()
  expect([...refused]).toEqual([
    ['b1', '499 client_gone'],
    ['a1', '499 client_gone'],
  ])
  expect(signals.get('a1')?.aborted).toBe(true)
  // its work has not ended yet, so its place is still taken
  expect(begun).toEqual(['a1'])
  await end('a1')
  expect(begun).toEqual(['a1', 'c1'])
  const gone = new AbortController()
  gone.abort()
  ask('d1', gone)
  await turn()
  expect(refused.get('d1')).toBe('499 client_gone')
})

test('a request that waits or works too long gets a 503 in time, and the work is aborted', async () => {
  const line = fairLine({ ...bounds, running: 1, waitMs: 10_000, workMs: 15_000 })
  const { ask, begun, refused, signals } = testLine(line)
  ask('a1')
  ask('b1')
  await vi.advanceTimersByTimeAsync(9_999)
  expect(refused.size).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect([...refused]).toEqual([['b1', '503 overloaded']])
  await vi.advanceTimersByTimeAsync(5_000)
  expect(refused.get('a1')).toBe('503 took_too_long')
  expect(signals.get('a1')?.aborted).toBe(true)
  expect(begun).toEqual(['a1'])
})

test('no bound is ever exceeded, every request is answered, and no place is lost', async () => {
  vi.useRealTimers()
  const question = record({
    share: constantFrom('a', 'b', 'c', 'd'),
    turns: integer({ min: 0, max: 5 }),
    goes: integer({ min: -1, max: 3 }),
    fails: constantFrom(false, true),
  })
  await assert(
    asyncProperty(array(question, { maxLength: 40 }), async (questions) => {
      const line = fairLine(bounds)
      const running = new Map<string, number>()
      const add = (share: string, by: number): number => {
        const count = (running.get(share) ?? 0) + by
        running.set(share, count)
        return count
      }
      const total = (): number => [...running.values()].reduce((sum, count) => sum + count, 0)
      const answers = questions.map(async ({ share, turns, goes, fails }) => {
        const gone = new AbortController()
        const answer = line({ share, gone: gone.signal }, async () => {
          expect(add(share, 1)).toBeLessThanOrEqual(bounds.runningEach)
          expect(total()).toBeLessThanOrEqual(bounds.running)
          for (let i = 0; i < turns; i++) await turn()
          add(share, -1)
          if (fails) throw new Error('no')
          return share
        })
        if (goes >= 0) void turn().then(() => gone.abort())
        return await answer
      })
      const settled = await Promise.allSettled(answers)
      const others = settled.filter(
        (result, i) => result.status === 'fulfilled' && result.value !== questions[i]?.share,
      )
      expect(others).toEqual([])
      // work of disconnected clients may still end
      for (let i = 0; i < 60; i++) await turn()
      const places = ['a', 'b'].map((share) =>
        line({ share, gone: new AbortController().signal }, async () => share),
      )
      expect(await Promise.all(places)).toEqual(['a', 'b'])
    }),
  )
})

test('an account has room for a stream while visitors fill theirs, and takes no place of theirs', () => {
  const room = streamPlaces({ accounts: { most: 3, each: 2 }, visitors: { most: 4, each: 2 } })
  const asker = (isVisitor: boolean, share: string) => ({
    isVisitor,
    share: () => share,
    gone: () => new AbortController().signal,
  })
  const open = (isVisitor: boolean, share: string, isPage = false) =>
    room(asker(isVisitor, share), isPage)()
  for (const share of ['n1', 'n1', 'n2', 'n2']) open(true, share)
  expect(() => open(true, 'n3')).toThrow(expect.objectContaining({ status: 503 }))
  const leave = open(false, 'acc_1')
  open(false, 'acc_1')
  expect(() => open(false, 'acc_1')).toThrow(
    expect.objectContaining({ status: 429, code: 'too_many_streams' }),
  )
  // its pages do not take the places of its programs
  open(false, 'acc_1', true)
  expect(() => open(false, 'acc_2')).toThrow(expect.objectContaining({ status: 503 }))
  leave()
  open(false, 'acc_1')
})

test('while visitors have taken all their places, and wait for more, an account is answered', async () => {
  vi.useRealTimers()
  const end = Promise.withResolvers<void>()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store is handed on, and no more
  const [ofAccounts, ofVisitors] = [{} as Store, {} as Store]
  const ask = openQueryStore({ accounts: ofAccounts, visitors: ofVisitors })
  const asker = (isVisitor: boolean, share: string) => {
    const gone = new AbortController()
    return { isVisitor, share: () => share, gone: () => gone.signal }
  }
  const begun: Store[] = []
  const visits = Array.from({ length: 100 }, (_, n) =>
    ask(asker(true, `site ${n}`), async (store) => {
      begun.push(store)
      await end.promise
    }),
  )
  const settled = Promise.allSettled(visits)
  expect(await ask(asker(false, 'acc_1'), async (store) => store === ofAccounts)).toBe(true)
  expect(begun).toEqual([ofVisitors, ofVisitors, ofVisitors, ofVisitors])
  end.resolve()
  const refused = (await settled).filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(100 - 4 - 64)
})
