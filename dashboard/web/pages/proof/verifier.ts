/** The stand-alone verifier, as published: loaded beside the pages, never part of them. */
import type { readNetwork, verifyFile } from '../../../../anchor/verifier/airproof-verify.js'
import { type Facts, factsOf } from './facts.ts'
import { judge, type OwnNetwork, type Verdict } from './verdict.ts'

type Verifier = { readonly verifyFile: typeof verifyFile; readonly readNetwork: typeof readNetwork }

export const verifierPath = '/airproof-verify.js'
export const networkPath = '/.well-known/airproof.json'

/** Kept for as long as the page is open, so that a file can be checked without a connection. */
let verifier: Promise<Verifier> | undefined
let network: Promise<OwnNetwork> | undefined

async function loadVerifier(): Promise<Verifier> {
  verifier ??= import(/* @vite-ignore */ verifierPath)
  try {
    return await verifier
  } catch (error) {
    verifier = undefined
    throw error
  }
}

/** This network as the page's own server names it: the pin of every check. */
export async function ownNetwork(): Promise<OwnNetwork> {
  network ??= askNetwork()
  const known = await network
  // without an answer, or before the first batch: the next check asks again
  if (typeof known === 'string') network = undefined
  return known
}

async function askNetwork(): Promise<OwnNetwork> {
  const { readNetwork: read } = await loadVerifier()
  try {
    const answer = await fetch(networkPath)
    if (!answer.ok) return 'unknown'
    const text = await answer.text()
    const { chain }: { readonly chain?: unknown } = JSON.parse(text)
    return chain === null ? 'none' : read(text)
  } catch {
    return 'unknown'
  }
}

/** Loads what a later check needs: from then on the page works without a connection. */
export const prepare = async (): Promise<void> => {
  await ownNetwork().catch(() => undefined)
}

export type Checked = Verdict & { readonly own: OwnNetwork; readonly facts: Facts | undefined }

/** @param blockHash that the reader trusts; '' for none */
export async function check(bytes: Uint8Array<ArrayBuffer>, blockHash = ''): Promise<Checked> {
  const { verifyFile: verify } = await loadVerifier()
  const own = await ownNetwork()
  const verdict = await judge({
    verify: (options) => verify(bytes, options),
    blockOf: (verification) => factsOf(bytes, verification)?.block,
    own,
    blockHash,
  })
  return { ...verdict, own, facts: factsOf(bytes, verdict.verification) }
}
