/**
 * The network that an address is rate-limited as: a client with one IPv6 address has all 2^64 of
 * its /64. An IPv4 address is its own network, also when an IPv6 socket reports it.
 */
export function networkOf(address: string): string {
  const plain = withoutPort(address.slice(0, 64).toLowerCase()).replace(/^::ffff:(?=\d+\.)/, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail = ''] = plain.split('::')
  const [left, right] = [groupsOf(head), groupsOf(tail)]
  // the zeros of `::` may reach into the first half
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  return [...left, ...zeros, ...right].slice(0, 4).join(':')
}

/** Some proxies write the client's port too, `192.0.2.1:4711` or `[2001:db8::1]:4711`, new each time. */
const withoutPort = (address: string): string =>
  address.replace(/^((?:::ffff:)?\d+\.[\d.]+):\d+$/, '$1').replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')

const groupsOf = (text: string): readonly string[] =>
  text === '' ? [] : text.split(':').map((group) => group.replace(/^0+(?=.)/, ''))

/**
 * The network around it, for a second and larger limit: a /48 of IPv6, which is what a provider gives
 * one site, so that its 65,536 networks do not count as separate clients. undefined for IPv4: one
 * address already is all clients of a carrier's NAT, and costs money.
 */
export const siteOf = (network: string): string | undefined =>
  network.includes(':') ? `${network.split(':').slice(0, 3).join(':')}::/48` : undefined
