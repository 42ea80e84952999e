/**
 * Which addresses may a webhook name? Judged after parsing as browsers do (WHATWG), so that
 * decimal, octal, hexadecimal and short IPv4, full-width digits and IDN are recognised.
 * What a name resolves to is judged elsewhere, at creation and again at every connection.
 */
import { judgeAddress } from '../access/public-address.ts'

export type UrlFault =
  | 'not_a_url'
  | 'too_long'
  | 'not_https'
  | 'userinfo'
  | 'port'
  | 'ip_literal'
  | 'local_name'
  | 'name_too_long'

export type UrlVerdict = { readonly url: string } | { readonly fault: UrlFault }

const longest = 2_048
const ports = new Set(['', '443', '8443'])

/** Names that mean something else on each network. */
const localEndings = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'lan',
  'home',
  'corp',
  'arpa',
  'onion',
  'invalid',
  'test',
]

/**
 * @param allowInsecure also allows http, any port and loopback addresses
 * @returns the URL as WHATWG writes it, without its fragment
 */
export function judgeWebhookUrl(text: string, { allowInsecure = false } = {}): UrlVerdict {
  if (text.length > longest) return { fault: 'too_long' }
  const url = URL.parse(text)
  if (url === null) return { fault: 'not_a_url' }
  if (url.protocol !== 'https:' && !(allowInsecure && url.protocol === 'http:'))
    return { fault: 'not_https' }
  if (url.username !== '' || url.password !== '') return { fault: 'userinfo' }
  if (!ports.has(url.port) && !allowInsecure) return { fault: 'port' }
  const fault = hostFault(url.hostname, allowInsecure)
  if (fault !== undefined) return { fault }
  url.hash = ''
  return url.href.length > longest ? { fault: 'too_long' } : { url: url.href }
}

function hostFault(hostname: string, allowInsecure: boolean): UrlFault | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  const verdict = judgeAddress(bare)
  if (verdict === 'loopback' && allowInsecure) return undefined
  if (verdict !== 'not_an_address' || hostname.startsWith('[')) return 'ip_literal'
  const name = hostname.replace(/\.+$/, '')
  if (name === 'localhost' && allowInsecure) return undefined
  const labels = name.split('.')
  if (labels.length < 2 || localEndings.includes(labels.at(-1) ?? '')) return 'local_name'
  if (name.length > 253 || labels.some((label) => label === '' || label.length > 63))
    return 'name_too_long'
  return undefined
}
