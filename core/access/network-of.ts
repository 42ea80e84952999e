/**
 * The network that an address counts for where something is limited: whoever has one address of
 * IPv6 has the 2^64 of its /64. IPv4 counts alone, also where a socket of IPv6 writes it.
 */
export function networkOf(address: string): string {
  const plain = withoutPort(address.slice(0, 64).toLowerCase()).replace(/^::ffff:(?=\d+\.)/, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail = ''] = plain.split('::')
  const [left, right] = [groupsOf(head), groupsOf(tail)]
  // what `::` stands for may reach into the first half
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
 * one site, so that its 65,536 networks are not as many visitors. undefined for IPv4: an address
 * already stands for everyone behind a carrier's NAT, and costs money.
 */
export const siteOf = (network: string): string | undefined =>
  network.includes(':') ? `${network.split(':').slice(0, 3).join(':')}::/48` : undefined
