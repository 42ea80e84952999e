/**
 * Repeatable chance: the same seed and place always give the same draw, in any order,
 * so a back-filled reading equals the one that would have been sent in time.
 */
export type Draw = (...place: readonly number[]) => number

/** @returns a draw of [0, 1), uniform; places are whole numbers below 2^53 */
export function chanceOf(seed: number): Draw {
  const start = mix(0x9e3779b9, seed)
  return (...place) => {
    let hash = start
    for (const part of place) hash = mix(mix(hash, part), Math.floor(part / 2 ** 32))
    return (finish(hash) >>> 0) / 2 ** 32
  }
}

/** Close to a standard normal distribution: four uniform draws, centred and scaled. */
export function bell(draw: Draw, ...place: readonly number[]): number {
  let sum = -2
  for (let i = 0; i < 4; i++) sum += draw(...place, i)
  return sum * Math.sqrt(3)
}

// the round and the finish of MurmurHash3 (Austin Appleby, public domain)
function mix(hash: number, part: number): number {
  let k = Math.imul(part | 0, 0xcc9e2d51)
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593)
  const h = hash ^ k
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0
}

function finish(hash: number): number {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
