/**
 * JSON-RPC to whichever of several nodes answers. A node that hangs, refuses the connection or
 * asks us to slow down is left for the next one; a node of another chain is never used. What a
 * node *says* about a question, an error too, is an answer and is not asked of the next one.
 */
import type { Hex } from '../../core/hex.ts'
import { TryAgain } from '../../runtime/exit.ts'

/** No node answered. The chain may be back later; nothing else waits for it. */
export class ChainAway extends TryAgain {}

/** A node of another chain than the one that was anchored to. */
export class WrongChain extends Error {
  override readonly name = 'WrongChain'
}

/** The node's own words about a question. */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal'
  readonly code: number
  readonly data: unknown
  constructor(message: string, code: number, data: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export type Ask = (method: string, params?: readonly unknown[]) => Promise<unknown>

/** What a node must say of itself; what is undefined is not compared. */
export type Expected = {
  readonly chainId: number | undefined
  readonly genesisHash: Hex | undefined
}

type RpcOptions = {
  readonly urls: readonly string[]
  readonly timeoutMs: number
  readonly expected: Expected
  /** A node was left, and why: never the URL's path, which may be a secret. */
  readonly onTrouble?: (host: string, why: unknown) => void
}

/** @returns `ask`: throws RpcRefusal, ChainAway, or WrongChain where every node is of another chain */
export function openRpc({ urls, timeoutMs, expected, onTrouble }: RpcOptions): Ask {
  const trusted = new Set<string>()
  let current = 0

  const askOne = async (url: string, method: string, params: readonly unknown[]) => {
    if (!trusted.has(url)) {
      await assertExpected((name, args = []) => call(url, timeoutMs, name, args), expected)
      trusted.add(url)
    }
    return call(url, timeoutMs, method, params)
  }

  return async (method, params = []) => {
    const troubles: unknown[] = []
    const first = current
    for (let tried = 0; tried < urls.length; tried++) {
      const at = (first + tried) % urls.length
      const url = urls[at] ?? ''
      try {
        return await askOne(url, method, params)
      } catch (error) {
        if (error instanceof RpcRefusal) throw error
        troubles.push(error)
        // it may be another node behind the same name when it answers again
        trusted.delete(url)
        onTrouble?.(new URL(url).host, error)
        // of several questions at once only the first that fails moves on
        if (current === at) current = (at + 1) % urls.length
      }
    }
    const wrong = troubles.find((trouble) => trouble instanceof WrongChain)
    if (wrong !== undefined && troubles.every((trouble) => trouble instanceof WrongChain))
      throw wrong
    throw new ChainAway('no node of the chain answers', { cause: troubles.at(-1) })
  }
}

/** @throws WrongChain */
async function assertExpected(ask: Ask, { chainId, genesisHash }: Expected): Promise<void> {
  if (chainId !== undefined) {
    const found = Number(await ask('eth_chainId'))
    if (found !== chainId)
      throw new WrongChain(`the node is of chain ${found}, and the anchors are on chain ${chainId}`)
  }
  if (genesisHash === undefined) return
  const genesis = await genesisOf(ask)
  if (genesis !== genesisHash)
    throw new WrongChain(
      `the node's chain began with block ${String(genesis)}, and the anchors' chain with ${genesisHash}`,
    )
}

/** Hash of the chain's first block. @throws RpcRefusal, ChainAway */
export async function genesisOf(ask: Ask): Promise<unknown> {
  const block = await ask('eth_getBlockByNumber', ['0x0', false])
  return typeof block === 'object' && block !== null && 'hash' in block ? block.hash : undefined
}

/** "Slow down", in the ways that nodes say it inside a JSON answer. */
const rateLimitCodes = [-32_005, 429]

async function call(
  url: string,
  timeoutMs: number,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(timeoutMs),
  })
  const text = await response.text()
  const answer = parseAnswer(text)
  if (answer === undefined) throw new Error(`HTTP ${response.status}, and no JSON-RPC answer`)
  if (!('error' in answer)) return answer.result
  const { code, message, data } = answer.error
  if (response.status === 429 || rateLimitCodes.includes(code)) throw new Error(message)
  throw new RpcRefusal(message, code, data)
}

type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data: unknown } }

function parseAnswer(text: string): Answer | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    if (typeof answer !== 'object' || answer === null) return undefined
    if ('error' in answer && typeof answer.error === 'object' && answer.error !== null) {
      const { error } = answer
      return {
        error: {
          code: 'code' in error ? Number(error.code) : 0,
          message: 'message' in error ? String(error.message) : 'an error without words',
          data: 'data' in error ? error.data : undefined,
        },
      }
    }
    return 'result' in answer ? { result: answer.result } : undefined
  } catch {
    return undefined
  }
}
