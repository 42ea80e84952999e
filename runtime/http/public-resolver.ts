/**
 * Resolves names to addresses that may be dialled. It uses c-ares: `dns.lookup` shares four threads,
 * which a few names without a response would block for the whole process.
 */
import { Resolver } from 'node:dns/promises'
import { judgeAddress } from '../../core/access/public-address.ts'
import { codeOf } from '../exit.ts'

export type Resolution =
  | { readonly addresses: readonly [string, ...string[]] }
  | { readonly fault: 'dns' | 'blocked_address'; readonly detail: string }

export type PublicResolver = {
  /** All addresses of a name, or why it must not be dialled: one bad address is enough. */
  readonly resolve: (hostname: string) => Promise<Resolution>
  /** Whether a socket that is connected to this address may be used. */
  readonly mayDial: (address: string) => boolean
}

type Options = {
  /** Also allows loopback addresses. */
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
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    )
    if (addresses.length > 0) return addresses
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
