/** How far apart two colours are for people of different colour vision. */

export const visions = ['normal', 'protan', 'deutan', 'tritan'] as const
type Vision = (typeof visions)[number]
type Triple = readonly [number, number, number]

/** Machado, Oliveira and Fernandes 2009, of severity 1, on linear sRGB. */
const seenBy: Readonly<Record<Vision, readonly [Triple, Triple, Triple]>> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

/** CIEDE2000. @param a `#rrggbb` */
export const difference = (a: string, b: string, vision: Vision): number =>
  apart(labOf(seen(a, vision)), labOf(seen(b, vision)))

function seen(color: string, vision: Vision): Triple {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  const mixed = ([x, y, z]: Triple): number =>
    Math.min(1, Math.max(0, x * (red ?? 0) + y * (green ?? 0) + z * (blue ?? 0)))
  const [first, second, third] = seenBy[vision]
  return [mixed(first), mixed(second), mixed(third)]
}

function labOf([r, g, b]: Triple): Triple {
  const f = (t: number): number => (t > 216 / 24389 ? Math.cbrt(t) : (841 / 108) * t + 4 / 29)
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047)
  const y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b)
  const z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883)
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** Of Sharma, Wu and Dalal 2005. */
function apart([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const seven = 25 ** 7
  const mean = ((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2) ** 7
  const stretch = 1 + 0.5 * (1 - Math.sqrt(mean / (mean + seven)))
  const polar = (a: number, b: number) => ({
    chroma: Math.hypot(a * stretch, b),
    hue: (Math.atan2(b, a * stretch) * (180 / Math.PI) + 360) % 360,
  })
  const [first, second] = [polar(a1, b1), polar(a2, b2)]
  const isGrey = first.chroma * second.chroma === 0
  const turn = isGrey ? 0 : ((second.hue - first.hue + 540) % 360) - 180
  const hueStep = 2 * Math.sqrt(first.chroma * second.chroma) * Math.sin(radians(turn / 2))
  const light = (l1 + l2) / 2
  const chroma = (first.chroma + second.chroma) / 2
  const sum = first.hue + second.hue
  const isFar = Math.abs(first.hue - second.hue) > 180
  const hue = isGrey ? sum : isFar ? (sum < 360 ? (sum + 360) / 2 : (sum - 360) / 2) : sum / 2
  const t =
    1 -
    0.17 * Math.cos(radians(hue - 30)) +
    0.24 * Math.cos(radians(2 * hue)) +
    0.32 * Math.cos(radians(3 * hue + 6)) -
    0.2 * Math.cos(radians(4 * hue - 63))
  const bend = 30 * Math.exp(-(((hue - 275) / 25) ** 2))
  const rotation = -Math.sin(radians(2 * bend)) * 2 * Math.sqrt(chroma ** 7 / (chroma ** 7 + seven))
  const dl = (l2 - l1) / (1 + (0.015 * (light - 50) ** 2) / Math.sqrt(20 + (light - 50) ** 2))
  const dc = (second.chroma - first.chroma) / (1 + 0.045 * chroma)
  const dh = hueStep / (1 + 0.015 * chroma * t)
  return Math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rotation * dc * dh)
}
