/**
 * Which addresses may a delivery be sent to? Only ones that the whole world can reach: everything
 * that IANA's special-purpose registries (RFC 6890 and its updates, read 2026-11) do not call
 * globally reachable is refused, and some more. IPv6 is allowed only inside 2000::/3, which leaves
 * out mapped, compatible, translated (NAT64), unique local, link-local and multicast addresses.
 */

export type AddressVerdict = 'public' | 'loopback' | 'not_public' | 'not_an_address'

type Block = { readonly bytes: readonly number[]; readonly bits: number }

const block = (bits: number, ...bytes: number[]): Block => ({ bits, bytes })

const notPublic4: readonly Block[] = [
  block(8, 0), // this network
  block(8, 10), // private
  block(10, 100, 64), // shared between carriers and customers
  block(8, 127), // loopback
  block(16, 169, 254), // link-local; metadata services
  block(12, 172, 16), // private
  block(24, 192, 0, 0), // IETF protocols
  block(24, 192, 0, 2), // documentation
  block(24, 192, 88, 99), // 6to4 relays
  block(16, 192, 168), // private
  block(15, 198, 18), // benchmarks
  block(24, 198, 51, 100), // documentation
  block(24, 203, 0, 113), // documentation
  block(32, 168, 63, 129, 16), // the metadata service of Azure, on a public address
  block(4, 224), // multicast
  block(4, 240), // reserved, broadcast
]

const notPublic6: readonly Block[] = [
  block(23, 0x20, 0x01, 0x00), // IETF protocols: Teredo, ORCHID, benchmarks
  block(32, 0x20, 0x01, 0x0d, 0xb8), // documentation
  block(16, 0x20, 0x02), // 6to4 carries an IPv4 address
  block(20, 0x3f, 0xff, 0x00), // documentation
]

const globalUnicast6 = block(3, 0x20)
const loopback4 = block(8, 127)

/** @param text as a resolver or a socket writes it; any other spelling is not an address */
export function judgeAddress(text: string): AddressVerdict {
  const four = parseIpv4(text)
  if (four !== undefined) {
    if (isIn(four, loopback4)) return 'loopback'
    return notPublic4.some((range) => isIn(four, range)) ? 'not_public' : 'public'
  }
  const six = parseIpv6(text)
  if (six === undefined) return 'not_an_address'
  if (six.every((byte, i) => byte === (i === 15 ? 1 : 0))) return 'loopback'
  const isPublic = isIn(six, globalUnicast6) && !notPublic6.some((range) => isIn(six, range))
  return isPublic ? 'public' : 'not_public'
}

function isIn(address: readonly number[], { bytes, bits }: Block): boolean {
  for (let i = 0; i * 8 < bits; i++) {
    const mask = (0xff << Math.max(0, 8 - (bits - i * 8))) & 0xff
    if (((address[i] ?? 0) & mask) !== ((bytes[i] ?? 0) & mask)) return false
  }
  return true
}

/** Four decimal numbers without leading zeros, as `inet_ntop` writes them. */
function parseIpv4(text: string): number[] | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  const bytes = match?.slice(1).map(Number)
  if (bytes === undefined || bytes.some((byte) => byte > 255)) return undefined
  return bytes.join('.') === text ? bytes : undefined
}

/** Eight groups, one `::` at most, the last two groups perhaps as IPv4; no zone. */
function parseIpv6(text: string): number[] | undefined {
  if (text.length > 45 || !/^[0-9a-f:.]+$/i.test(text)) return undefined
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map(groupsOf)
  if (head === undefined) return undefined
  if (halves.length === 1) return head.length === 16 ? head : undefined
  if (tail === undefined) return undefined
  const missing = 16 - head.length - tail.length
  return missing < 2 ? undefined : [...head, ...Array.from({ length: missing }, () => 0), ...tail]
}

function groupsOf(text: string): number[] | undefined {
  if (text === '') return []
  const groups = text.split(':')
  const bytes: number[] = []
  for (const [i, group] of groups.entries()) {
    const four = i === groups.length - 1 ? parseIpv4(group) : undefined
    if (four !== undefined) bytes.push(...four)
    else if (/^[0-9a-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 0xff)
    } else return undefined
  }
  return bytes
}
