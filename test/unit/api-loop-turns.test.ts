import { setImmediate as loopTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { loopTurns } from '../../api/http/loop-turns.ts'

test('one answer is started per turn of the loop, and accounts take turns', async () => {
  const inTurn = loopTurns()
  const begun: string[] = []
  const ask = (share: string, count: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, async (_, i) => {
        await inTurn(share)
        begun.push(`${share}${i}`)
      }),
    )
  const many = ask('a', 4)
  const few = ask('b', 1)
  await Promise.resolve()
  expect(begun).toEqual(['a0'])
  await loopTurn()
  expect(begun).toEqual(['a0', 'a1'])
  await Promise.all([many, few])
  expect(begun).toEqual(['a0', 'a1', 'b0', 'a2', 'a3'])
})

test('if nothing waits, a turn is immediate', async () => {
  const inTurn = loopTurns()
  for (let i = 0; i < 3; i++) {
    let isBegun = false
    const begin = async (): Promise<void> => {
      await inTurn('a')
      isBegun = true
    }
    const begun = begin()
    await Promise.resolve()
    expect(isBegun).toBe(true)
    await begun
    await loopTurn()
  }
})
