/** Rings of longitudes and latitudes, cut to a box, thinned, and written small. */

export type Point = readonly [lon: number, lat: number]
export type Ring = readonly Point[]
/** Degrees: west, south, east, north. */
export type Box = readonly [west: number, south: number, east: number, north: number]

/** The part of a ring inside the box (Sutherland and Hodgman); empty where none is. */
export function clipRing(ring: Ring, [west, south, east, north]: Box): Ring {
  let points = ring
  const sides = [
    { axis: 0, at: west, sign: 1 },
    { axis: 0, at: east, sign: -1 },
    { axis: 1, at: south, sign: 1 },
    { axis: 1, at: north, sign: -1 },
  ] as const
  for (const { axis, at, sign } of sides) {
    const isInside = (point: Point): boolean => sign * (point[axis] - at) >= 0
    const cut = (a: Point, b: Point): Point => {
      const part = (at - a[axis]) / (b[axis] - a[axis])
      return [a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])]
    }
    points = points.flatMap((point, index) => {
      const before = points.at(index - 1) ?? point
      if (isInside(point) === isInside(before)) return isInside(point) ? [point] : []
      return isInside(point) ? [cut(before, point), point] : [cut(before, point)]
    })
  }
  return points
}

/** Without the points that lie less than `tolerance` degrees off the line (Douglas and Peucker). */
export function thinRing(ring: Ring, tolerance: number): Ring {
  if (ring.length < 4) return ring
  const isKept = new Uint8Array(ring.length)
  isKept[0] = 1
  isKept[ring.length - 1] = 1
  const waiting: [number, number][] = [[0, ring.length - 1]]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const farthest = farthestBetween(ring, part)
    if (farthest.distance <= tolerance) continue
    isKept[farthest.at] = 1
    waiting.push([part[0], farthest.at], [farthest.at, part[1]])
  }
  return ring.filter((_, at) => isKept[at] === 1)
}

function farthestBetween(ring: Ring, [first, last]: readonly [number, number]) {
  const [ax, ay] = ring[first]!
  const [bx, by] = ring[last]!
  const length = Math.hypot(bx - ax, by - ay)
  let at = first
  let distance = -1
  for (let index = first + 1; index < last; index++) {
    const [x, y] = ring[index]!
    const off =
      length === 0
        ? Math.hypot(x - ax, y - ay)
        : Math.abs((bx - ax) * (ay - y) - (ax - x) * (by - ay)) / length
    if (off > distance) {
      distance = off
      at = index
    }
  }
  return { at, distance }
}

/** Square degrees, whatever way the ring turns. */
export const areaOfRing = (ring: Ring): number =>
  Math.abs(
    ring.reduce((sum, [x, y], at) => {
      const [px, py] = ring.at(at - 1) ?? [x, y]
      return sum + (px * y - x * py)
    }, 0) / 2,
  )

/** Whole steps of 1/`scale` degree, each point as its difference from the previous one. */
export function packRing(ring: Ring, scale: number): readonly number[] {
  let lastX = 0
  let lastY = 0
  return ring.flatMap(([lon, lat]) => {
    const x = Math.round(lon * scale)
    const y = Math.round(lat * scale)
    const step = [x - lastX, y - lastY]
    lastX = x
    lastY = y
    return step
  })
}

/** The points that `packRing` wrote. */
export function unpackRing(steps: readonly number[], scale: number): Ring {
  const ring: Point[] = []
  let x = 0
  let y = 0
  for (let at = 0; at + 1 < steps.length; at += 2) {
    x += steps[at] ?? 0
    y += steps[at + 1] ?? 0
    ring.push([x / scale, y / scale])
  }
  return ring
}
