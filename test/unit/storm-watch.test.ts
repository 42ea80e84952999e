import { expect, test } from 'vitest'
import { minuteMs, secondMs } from '../../core/time.ts'
import { createStormWatch } from '../../pipeline/decide/storm-watch.ts'

const counts = (online: number, held = 0) => ({ unheard: 0, online, held, offline: 0 })
const partitions = Array.from({ length: 16 }, (_, partition) => partition)

function watch() {
  const alarms: number[] = []
  return { alarms, storm: createStormWatch((silent) => alarms.push(silent)) }
}

test('a whole network silent within one second is a storm as soon as it is half', () => {
  const { alarms, storm } = watch()
  for (const partition of partitions) storm.report(partition, counts(10))
  // each partition is judged before any of them has reported again
  const verdicts = partitions.map((partition) => storm.judge(partition, 10, 5 * minuteMs))
  expect(verdicts.filter((verdict) => verdict === 'report')).toHaveLength(8)
  expect(verdicts.at(-1)).toBe('hold')
  // nine partitions had been judged before, and their sensors are more than half
  expect(alarms).toEqual([90])
})

test('less than half of a network is reported, partition by partition', () => {
  const { alarms, storm } = watch()
  for (const partition of partitions) storm.report(partition, counts(100))
  const verdicts = partitions.map((partition) => storm.judge(partition, 40, 5 * minuteMs))
  expect(new Set(verdicts)).toEqual(new Set(['report']))
  expect(alarms).toEqual([])
})

test('nineteen sensors are not a storm, even if these are all', () => {
  const { alarms, storm } = watch()
  storm.report(0, counts(19))
  expect(storm.judge(0, 19, 0)).toBe('report')
  expect(alarms).toEqual([])
})

test('a partition that moved to another process is no longer counted', () => {
  const { storm } = watch()
  storm.report(0, counts(30))
  storm.report(1, counts(1_000))
  storm.forget(1)
  expect(storm.judge(0, 20, 0)).toBe('hold')
})

test('after a restart the held sensors prolong the storm, without another alarm', () => {
  const { alarms, storm } = watch()
  storm.report(0, counts(100, 25))
  expect(storm.judge(0, 1, 0)).toBe('hold')
  expect(storm.judge(0, 1, 15 * minuteMs - secondMs)).toBe('hold')
  storm.report(0, counts(98))
  expect(storm.judge(0, 1, 15 * minuteMs)).toBe('report')
  expect(alarms).toEqual([])
})
