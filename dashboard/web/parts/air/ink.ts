/** Colours that can be read on each other, by the contrast of WCAG 2. All are `#rrggbb`. */

/** Black or white, whichever is read better on a colour. */
export function inkOn(color: string): '#000000' | '#ffffff' {
  // contrast with black is (light + 0.05) / 0.05, with white 1.05 / (light + 0.05)
  return (lightOf(color) + 0.05) ** 2 > 1.05 * 0.05 ? '#000000' : '#ffffff'
}

/** 1 to 21. */
export function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [lightOf(a), lightOf(b)].toSorted((x, y) => x - y)
  return (high + 0.05) / (low + 0.05)
}

/** What a shape needs around it to be seen. */
const enough = 3

/**
 * The colour, made darker or lighter until it stands out from all grounds.
 * @param grounds of one scheme, all light or all dark
 */
export function ringOf(color: string, grounds: readonly string[]): string {
  const isDark = grounds.every((ground) => lightOf(ground) < 0.18)
  const end = isDark ? 255 : 0
  for (let step = 0; step < 20; step++) {
    const ring = mixed(color, end, step / 20)
    if (grounds.every((ground) => contrast(ring, ground) >= enough)) return ring
  }
  return isDark ? '#ffffff' : '#000000'
}

const partsOf = (color: string): readonly number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))

const mixed = (color: string, end: number, share: number): string =>
  `#${partsOf(color)
    .map((part) =>
      Math.round(part + (end - part) * share)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`

function lightOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = partsOf(color).map((part) => linear(part / 255))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const linear = (part: number): number =>
  part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
