/**
 * The nearest places of each of many, on the globe: at the poles and across 180° too, since distances
 * are those of points in space. A k-d tree, so 100,000 sensors of one city cost what as many villages do.
 */

export type Place = { readonly lat: number; readonly lon: number }

const earthKm = 6_371
const axes = 3

type Tree = {
  /** x, y, z in km of each place, from the centre of the earth. */
  readonly points: Float64Array
  /** Places in the order of the tree: the middle of each part divides it. */
  readonly order: Int32Array
}

export type Nearest = {
  /** The places within reach of the one at `index`, itself left out: the nearest first, of two the first given. */
  readonly of: (index: number) => readonly number[]
}

/** @param count how many are returned at most  @param withinKm in a straight line */
export function nearestOf(
  places: readonly Place[],
  { count, withinKm }: { readonly count: number; readonly withinKm: number },
): Nearest {
  const tree: Tree = {
    points: pointsOf(places),
    order: Int32Array.from(places, (_, index) => index),
  }
  divide(tree, 0, places.length - 1, 0)
  return {
    of: (index) => {
      const search: Search = { tree, index, count, found: [], distances: [], most: withinKm ** 2 }
      look(search, 0, places.length - 1, 0)
      return search.found
    },
  }
}

function pointsOf(places: readonly Place[]): Float64Array {
  const points = new Float64Array(places.length * axes)
  for (const [index, { lat, lon }] of places.entries()) {
    const [north, east] = [(lat * Math.PI) / 180, (lon * Math.PI) / 180]
    points[index * axes] = earthKm * Math.cos(north) * Math.cos(east)
    points[index * axes + 1] = earthKm * Math.cos(north) * Math.sin(east)
    points[index * axes + 2] = earthKm * Math.sin(north)
  }
  return points
}

/** Puts the middle of `from`…`to` where it belongs by one axis, what is less before it; then both halves. */
function divide(tree: Tree, from: number, to: number, axis: number): void {
  if (to - from < 1) return
  const middle = (from + to) >> 1
  select(tree, from, to, middle, axis)
  const next = (axis + 1) % axes
  divide(tree, from, middle - 1, next)
  divide(tree, middle + 1, to, next)
}

/** Hoare's selection: afterwards the place at `middle` is the one that sorting would put there. */
function select(
  { points, order }: Tree,
  first: number,
  last: number,
  middle: number,
  axis: number,
): void {
  const at = (place: number): number => points[(order[place] ?? 0) * axes + axis] ?? 0
  let from = first
  let to = last
  while (from < to) {
    const pivot = at(middle)
    let [low, high] = [from, to]
    while (low <= high) {
      while (at(low) < pivot) low++
      while (at(high) > pivot) high--
      if (low > high) break
      const moved = order[low] ?? 0
      order[low++] = order[high] ?? 0
      order[high--] = moved
    }
    if (high < middle) from = low
    if (middle < low) to = high
  }
}

type Search = {
  readonly tree: Tree
  readonly index: number
  readonly count: number
  readonly found: number[]
  /** Of those found, squared. */
  readonly distances: number[]
  /** No place farther than this is wanted, squared. */
  most: number
}

function look(search: Search, from: number, to: number, axis: number): void {
  if (from > to) return
  const { points, order } = search.tree
  const middle = (from + to) >> 1
  const here = order[middle] ?? 0
  consider(search, here)
  const apart = (points[search.index * axes + axis] ?? 0) - (points[here * axes + axis] ?? 0)
  const next = (axis + 1) % axes
  if (apart <= 0) look(search, from, middle - 1, next)
  else look(search, middle + 1, to, next)
  // the other half begins at the divide
  if (apart ** 2 > search.most) return
  if (apart <= 0) look(search, middle + 1, to, next)
  else look(search, from, middle - 1, next)
}

function consider(search: Search, place: number): void {
  const { tree, index, count, found, distances } = search
  if (place === index) return
  let distance = 0
  for (let axis = 0; axis < axes; axis++)
    distance +=
      ((tree.points[place * axes + axis] ?? 0) - (tree.points[index * axes + axis] ?? 0)) ** 2
  if (distance > search.most) return
  let at = found.length
  while (at > 0 && isNearer(distance, place, distances[at - 1] ?? 0, found[at - 1] ?? 0)) at--
  if (at === count) return
  found.splice(at, 0, place)
  distances.splice(at, 0, distance)
  if (found.length > count) {
    found.pop()
    distances.pop()
  }
  if (found.length === count) search.most = distances.at(-1) ?? 0
}

/** Of two that are as far, the one given first: the answer does not depend on the tree. */
const isNearer = (distance: number, place: number, otherDistance: number, other: number): boolean =>
  distance < otherDistance || (distance === otherDistance && place < other)
