import type { Mutant, RowMutants } from '../mutant.ts'

const flags = 'core/air/quality.ts'
const levels = 'core/air/quality-level.ts'
const checks = 'core/state/pm-checks.ts'
const level = 'core/state/sensor-level.ts'
const history = ['history-bounds', 'pm-checks']

const anotherLevel = { good: 'suspect', suspect: 'fail', fail: 'suspect' }

/** Each flag and its level, and each rule by which a sensor's history sets one. */
export const qualityMutants: readonly (Mutant | RowMutants)[] = [
  {
    name: 'a flag is not in the list',
    file: flags,
    rows: /^ {2}(\w+): \d+,\n/gm,
    becomes: () => '',
    least: 9,
    tests: ['quality'],
  },
  {
    name: 'a flag has another bit',
    file: flags,
    rows: /(?<=^ {2}(\w+): )\d+(?=,\n)/gm,
    becomes: () => '30',
    least: 9,
    tests: ['quality', 'quality-level'],
  },
  {
    name: 'a flag has another level',
    file: levels,
    rows: /(?<=^ {2}(\w+): )'(good|suspect|fail)'(?=,\n)/gm,
    becomes: (_row, [, is]) => `'${anotherLevel[is === 'good' || is === 'fail' ? is : 'suspect']}'`,
    least: 9,
    tests: ['quality-level'],
  },
  {
    name: 'a reading without particles has not failed',
    file: levels,
    rows: /(?<=ofIndex: ReadonlySet<QuantityName> = new Set\(\[.*)'(pm\w+)',?/g,
    becomes: () => '',
    least: 2,
    tests: ['quality-level'],
  },
  {
    name: 'a filter lets through what is worse, or less',
    file: levels,
    rows: /(?<=^ {2}(good|suspect|all): )(?:failMask \| suspectMask|failMask|0)(?=,\n)/gm,
    becomes: (row) => (row === 'failMask' ? '0' : 'failMask'),
    least: 3,
    tests: ['quality-level'],
  },
  {
    name: 'a bound of the history rules is one more',
    file: checks,
    rows: /(?<=^const ((?:longest|flat|stuck|zero|fewest|spike)\w+) = )[^;\n]+/gm,
    becomes: (bound) => `${bound} + 1`,
    least: 9,
    tests: history,
  },
  {
    name: 'a bound of the history rules is one less',
    file: checks,
    rows: /(?<=^const ((?:longest|flat|stuck|zero|fewest|spike)\w+) = )[^;\n]+/gm,
    becomes: (bound) => `${bound} - 1`,
    least: 9,
    tests: history,
  },
  {
    name: 'history goes on over a gap',
    file: checks,
    text: 'timeMs - newestMsOf(state, slot) > longestGapMs',
    becomes: 'timeMs - newestMsOf(state, slot) < 0 * longestGapMs',
    tests: history,
  },
  {
    name: 'zero is also where one of both values is not',
    file: checks,
    text: '(pm25 ?? 0) === 0 && (pm10 ?? 0) === 0',
    becomes: '((pm25 ?? 0) === 0 || (pm10 ?? 0) === 0)',
    tests: history,
  },
  {
    name: 'the same PM2.5 alone is flat',
    file: checks,
    text: '  (pm10 === null || pm10 === checks[row + checkAt.pm10])',
    becomes: '  (pm10 === null || pm10 !== undefined)',
    tests: history,
  },
  {
    name: 'a spike is above one of the newest, not above their median',
    file: checks,
    text: 'exceeded > count >> 1',
    becomes: 'exceeded > 0',
    tests: history,
  },
  {
    name: 'a spike is high enough, or many times as high',
    file: checks,
    text: 'pm25 > recent + spikeAbove && pm25 > spikeTimes * recent',
    becomes: 'pm25 > recent + spikeAbove || pm25 > spikeTimes * recent',
    tests: history,
  },
  {
    name: 'a bound of a sensor’s level is one more',
    file: level,
    rows: /(?<=^const (better\w+) = )\d+/gm,
    becomes: (bound) => `${Number(bound) + 1}`,
    least: 2,
    tests: ['sensor-level'],
  },
  {
    name: 'a sensor’s level gets better with its first better reading',
    file: level,
    text: 'if (run < betterReadings || minutes < betterMinutes) return level',
    becomes: 'if (run < betterReadings && minutes < betterMinutes) return level',
    tests: ['sensor-level'],
  },
  {
    name: 'a sensor’s level forgets the worst of the better ones',
    file: level,
    text: 'Math.max(rank, run === 1 ? 0 :',
    becomes: 'Math.min(rank, run === 1 ? rank :',
    tests: ['sensor-level'],
  },
]
