/** The rule of the border, in every order in which sixteen workers may meet it. */
import {
  array,
  assert,
  boolean,
  constantFrom,
  integer,
  property,
  shuffledSubarray,
} from 'fast-check'
import { expect, test } from 'vitest'
import { partitionCount } from '../../core/air/sensor-id.ts'
import {
  areAllMarked,
  borderStep,
  findBorder,
  isAboveBorder,
  type LeafVersion,
  leafVersionOf,
} from '../../core/state/border.ts'

type Written = { readonly leafVersion?: 2; readonly isMark?: true }
type Entry = { readonly seq: number; readonly partition: number; readonly message: Written }

const everyPartition = Array.from({ length: partitionCount }, (_, partition) => partition)

/** Sixteen workers that write when it is their turn, and see the level and the log late or at once. */
function play(
  turns: readonly number[],
  levelOf: (turn: number) => number,
  isBornAbove = false,
): readonly Entry[] {
  const log: Entry[] = []
  const last = new Map<number, LeafVersion>()
  const write = (partition: number, message: Written): void => {
    log.push({ seq: log.length + 1, partition, message })
    last.set(partition, leafVersionOf(message))
  }
  for (const [turn, partition] of turns.entries()) {
    const step = borderStep({
      level: levelOf(turn),
      isBornAbove,
      own: last.get(partition),
      isAllMarked: areAllMarked(last),
    })
    if (step === 'below') write(partition, {})
    if (step === 'mark') write(partition, { leafVersion: 2, isMark: true })
    if (step === 'above') write(partition, { leafVersion: 2 })
  }
  return log
}

const turns = array(integer({ min: 0, max: partitionCount - 1 }), { maxLength: 400 })

test('whatever the order, everything up to B has leaf 1 and everything after it leaf 2', () => {
  assert(
    property(turns, integer({ min: 0, max: 100 }), boolean(), (some, raisedAt, isLate) => {
      // a worker may see the level later than another: each has its own delay
      const log = play(some, (turn) =>
        turn - (isLate ? (some[turn] ?? 0) : 0) >= raisedAt ? 3 : 2,
      )
      const border = findBorder(log) ?? Infinity
      expect(log.filter(({ seq, message }) => seq > border !== isAboveBorder(message))).toEqual([])
      const marks = log.filter(({ message }) => message.isMark)
      expect(new Set(marks.map(({ partition }) => partition)).size).toBe(marks.length)
      const isPassed = border < Infinity
      expect(isPassed ? [marks.length, marks.at(-1)?.seq] : [partitionCount, border]).toEqual([
        partitionCount,
        border,
      ])
    }),
  )
})

test('once every partition has had two turns at level 3, every worker is above it', () => {
  assert(
    property(
      shuffledSubarray(everyPartition, { minLength: partitionCount }),
      shuffledSubarray(everyPartition, { minLength: partitionCount }),
      (first, second) => {
        const log = play([...first, ...second], () => 3)
        expect(findBorder(log)).toBe(partitionCount)
        expect(log).toHaveLength(2 * partitionCount)
      },
    ),
  )
})

test('an instance that was new at level 3 has no marks', () => {
  assert(
    property(turns, (some) => {
      const log = play(some, () => 3, true)
      expect(log).toHaveLength(some.length)
      expect(log.every(({ message }) => isAboveBorder(message))).toBe(true)
      expect(findBorder(log)).toBe(log.length === 0 ? undefined : 0)
    }),
  )
})

test('a worker whose partition is marked never goes back, whatever level it sees', () => {
  for (const level of [1, 2, 3])
    for (const isAllMarked of [true, false])
      expect(borderStep({ level, isBornAbove: false, own: 2, isAllMarked })).toBe(
        isAllMarked ? 'above' : 'waiting',
      )
})

test('one partition without a mark, or of which nothing is known, holds all back', () => {
  assert(
    property(
      integer({ min: 0, max: 15 }),
      constantFrom(1 as const, undefined),
      (other, version) => {
        const versions = new Map<number, LeafVersion>(everyPartition.map((p) => [p, 2]))
        expect(areAllMarked(versions)).toBe(true)
        if (version === undefined) versions.delete(other)
        else versions.set(other, version)
        expect(areAllMarked(versions)).toBe(false)
      },
    ),
  )
})

test('the border is found from anywhere before it', () => {
  const log = play([...everyPartition, ...everyPartition, ...everyPartition], (turn) =>
    turn < partitionCount ? 2 : 3,
  )
  for (let from = 0; from < 2 * partitionCount; from++)
    expect(findBorder(log.slice(from))).toBe(2 * partitionCount)
  expect(findBorder(log.slice(0, 2 * partitionCount))).toBeUndefined()
})
