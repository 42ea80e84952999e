/** Black or white, whichever is read better on a colour. @param color `#rrggbb` */
export function inkOn(color: string): '#000000' | '#ffffff' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(color.slice(at, at + 2), 16) / 255),
  )
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
  // contrast with black is (light + 0.05) / 0.05, with white 1.05 / (light + 0.05)
  return (light + 0.05) ** 2 > 1.05 * 0.05 ? '#000000' : '#ffffff'
}

const linear = (part: number): number =>
  part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
