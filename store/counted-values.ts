/** Values as a histogram: each of them once, ascending, with how often it is there. */
export type CountedValues = { readonly values: Int32Array; readonly counts: Uint32Array }

export const noneCounted: CountedValues = {
  values: new Int32Array(0),
  counts: new Uint32Array(0),
}

/**
 * By counting where the values lie dense, else by sorting.
 * @param values in any order; may be reordered
 * @param counted more of them
 */
export function countValues(
  values: Int32Array,
  counted: readonly CountedValues[] = [],
): CountedValues {
  let n = values.length
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  for (const part of counted) {
    for (const count of part.counts) n += count
    min = Math.min(min, part.values[0] ?? min)
    max = Math.max(max, part.values.at(-1) ?? max)
  }
  if (n === 0) return noneCounted
  const span = max - min + 1
  if (span > 16 * n)
    return countSorted(counted.length === 0 ? values : spreadOut(values, counted, n))
  const counts = new Uint32Array(span)
  for (const value of values) counts[value - min]! += 1
  for (const part of counted) {
    for (let at = 0; at < part.values.length; at++)
      counts[part.values[at]! - min]! += part.counts[at]!
  }
  return compact(counts, min)
}

/** @param counts of each value from `min` on */
function compact(counts: Uint32Array, min: number): CountedValues {
  let distinct = 0
  for (const count of counts) if (count > 0) distinct++
  const values = new Int32Array(distinct)
  const present = new Uint32Array(distinct)
  let at = 0
  for (let step = 0; step < counts.length; step++) {
    const count = counts[step]!
    if (count === 0) continue
    values[at] = min + step
    present[at++] = count
  }
  return { values, counts: present }
}

function countSorted(values: Int32Array): CountedValues {
  values.sort()
  const distinct = new Int32Array(values.length)
  const counts = new Uint32Array(values.length)
  let last = -1
  for (const value of values) {
    if (last < 0 || distinct[last] !== value) distinct[++last] = value
    counts[last]! += 1
  }
  return { values: distinct.subarray(0, last + 1), counts: counts.subarray(0, last + 1) }
}

/** All of them one by one. */
function spreadOut(values: Int32Array, counted: readonly CountedValues[], n: number): Int32Array {
  const all = new Int32Array(n)
  all.set(values)
  let at = values.length
  for (const part of counted)
    for (let i = 0; i < part.values.length; i++) {
      all.fill(part.values[i]!, at, at + part.counts[i]!)
      at += part.counts[i]!
    }
  return all
}
