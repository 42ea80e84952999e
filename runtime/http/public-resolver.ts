/**
 * Names to addresses that may be dialled. Asks by c-ares: `dns.lookup` shares four threads, which
 * a few names that never answer would hold for everybody.
 */
import { Resolver } from 'node:dns/promises'
import { judgeAddress } from '../../core/access/public-address.ts'
import { codeOf } from '../exit.ts'

export type Resolution =
  | { readonly addresses: readonly [string, ...string[]] }
  | { readonly fault: 'dns' | 'blocked_address'; readonly detail: string }

export type PublicResolver = {
  /** All addresses of a name, or why it must not be dialled: one bad address spoils all. */
  readonly resolve: (hostname: string) => Promise<Resolution>
  /** Whether a socket may go on that is connected to this address. */
  readonly mayDial: (address: string) => boolean
}

type Options = {
  /** Lets loopback addresses through, and nothing else. */
  readonly allowInsecure: boolean
  /** Instead of the system's; `address:port`. */
  readonly servers?: readonly string[]
}

const queryTimeoutMs = 1_500
const queryTries = 2

export function publicResolver({ allowInsecure, servers }: Options): PublicResolver {
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryTries })
  if (servers !== undefined) resolver.setServers(servers)

  const mayDial = (address: string): boolean => {
    const verdict = judgeAddress(address)
    return verdict === 'public' || (allowInsecure && verdict === 'loopback')
  }

  const addressesOf = async (hostname: string): Promise<string[]> => {
    const bare = hostname.replace(/^\[|\]$/g, '')
    if (judgeAddress(bare) !== 'not_an_address') return [bare]
    if (allowInsecure && /^localhost\.?$/.test(bare)) return ['127.0.0.1']
    const answers = await Promise.allSettled([resolver.resolve4(bare), resolver.resolve6(bare)])
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (found.length > 0) return found
    throw answers[0]?.status === 'rejected' ? answers[0].reason : new Error('no address')
  }

  return {
    mayDial,
    resolve: async (hostname) => {
      try {
        const [first, ...rest] = await addressesOf(hostname)
        if (first === undefined) return { fault: 'dns', detail: 'the name has no address' }
        const bad = [first, ...rest].find((address) => !mayDial(address))
        if (bad === undefined) return { addresses: [first, ...rest] }
        return { fault: 'blocked_address', detail: `${hostname} has the address ${bad}` }
      } catch (error) {
        return { fault: 'dns', detail: `${hostname}: ${codeOf(error) ?? String(error)}` }
      }
    },
  }
}
