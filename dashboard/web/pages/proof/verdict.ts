/** What a proof is worth to the reader: three verdicts, and what is said of others' proofs. */
import type { Network, Verification } from '../../../../anchor/verifier/airproof-verify.js'
import type { Facts } from './facts.ts'

export type VerdictKind =
  /** It is of this network, and the reader knows that its block is part of the chain. */
  | 'matches'
  /** All of it fits together. Anyone can make a block, so more is needed. */
  | 'consistent'
  /** The same, and this network's own record could not be had. */
  | 'unpinned'
  /** All of it fits together, and a contract that is not this network's holds it. */
  | 'foreign'
  | 'invalid'

export type Verdict = { readonly kind: VerdictKind; readonly verification: Verification }

/** This network, if that is known; 'none': it has anchored nothing yet. */
export type OwnNetwork = Network | 'none' | 'unknown'

type Options = {
  /** The published verifier on the file. */
  readonly verify: (options: {
    readonly network?: Network
    readonly trustedBlockHash?: string
  }) => Promise<Verification>
  /** Chain and contract that the file names. */
  readonly blockOf: (
    verification: Verification,
  ) => Pick<Facts['block'], 'chainId' | 'contract'> | undefined
  /** The pin: without it a file of anyone's contract is as good as ours. */
  readonly own: OwnNetwork
  /** Of the block, from a source that the reader trusts; '' for none. */
  readonly blockHash: string
}

export async function judge({ verify, blockOf, own, blockHash }: Options): Promise<Verdict> {
  if (typeof own === 'string') {
    const alone = settled(await verify({}))
    if (!alone.ok) return { kind: 'invalid', verification: alone }
    return { kind: own === 'none' ? 'foreign' : 'unpinned', verification: alone }
  }
  const trusted = blockHash === '' ? {} : { trustedBlockHash: blockHash }
  const pinned = settled(await verify({ network: own, ...trusted }))
  if (pinned.ok) return { kind: blockHash === '' ? 'consistent' : 'matches', verification: pinned }
  const block = blockOf(pinned)
  if (failedCheck(pinned)?.name !== 'pins' || block === undefined || isOurs(block, own))
    return { kind: 'invalid', verification: pinned }
  const alone = settled(await verify({}))
  return { kind: alone.ok ? 'foreign' : 'invalid', verification: alone }
}

export const failedCheck = ({ checks }: Pick<Verification, 'checks'>) =>
  checks.find(({ ok }) => !ok)

/** A file of level `rpc` is refused where no node was named: that is a question left open, not a no. */
function settled(verification: Verification): Verification {
  const last = failedCheck(verification)
  if (last?.name !== 'node' || !last.why.startsWith('this bundle needs a node')) return verification
  const { checks, notAsked } = verification
  return {
    ...verification,
    ok: true,
    checks: checks.filter(({ ok }) => ok),
    notAsked: [...notAsked, { name: 'node', why: last.why }],
  }
}

/**
 * A file that names our own contract and is not within it is not of another network: it was made up, or
 * anchored after a theft.
 */
const isOurs = (
  { chainId, contract }: Pick<Facts['block'], 'chainId' | 'contract'>,
  own: Network,
): boolean => chainId === own.chainId && own.contracts.some(({ address }) => address === contract)

/** What a node's answer means for the reader. */
export type NodeAnswer =
  | { readonly kind: 'confirmed'; readonly verification: Verification }
  /** It has another block in that place, or other code. */
  | { readonly kind: 'contradicted'; readonly verification: Verification }
  | { readonly kind: 'no answer' | 'other chain' | 'not final' }

/**
 * Words of the published verifier, whose bytes a test pins. A node of another chain, or one that gives
 * no answer, says nothing against the proof.
 */
const saysNothing = [
  ['other chain', /^it is a node of another chain$/],
  ['not final', /^the block is not finalized yet$/],
  ['no answer', /^the node (?:refused|knows no) /],
] as const

/** @param asked a verification that named a node */
export function answerOf(asked: Verification): NodeAnswer {
  if (asked.ok) return { kind: 'confirmed', verification: asked }
  if (asked.unreachable) return { kind: 'no answer' }
  const why = failedCheck(asked)?.why ?? ''
  for (const [kind, words] of saysNothing) if (words.test(why)) return { kind }
  return { kind: 'contradicted', verification: asked }
}

/** The form of a block's hash: `0x` and 64 hexadecimal digits. */
export const isHash = (text: string): boolean => /^0x[0-9a-f]{64}$/.test(text)

/** `0x8c9c…371a` */
export const shortHash = (hash: string): string =>
  hash.length > 14 ? `${hash.slice(0, 6)}…${hash.slice(-4)}` : hash

/** A node's address that the worker's policy lets it ask: TLS, or the reader's own machine. */
export function nodeAddress(text: string): URL | undefined {
  if (!URL.canParse(text.trim())) return undefined
  const url = new URL(text.trim())
  const isOwn = ['localhost', '127.0.0.1'].includes(url.hostname)
  return url.protocol === 'https:' || (isOwn && url.protocol === 'http:') ? url : undefined
}
