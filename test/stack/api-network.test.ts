import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keccak256 } from '../../anchor/verifier/airproof-verify.js'
import { toHex } from '../../core/hex.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { testApi } from '../support/api.ts'
import { mustBeDocumented } from '../support/documented-answers.ts'
import { eventually } from '../support/eventually.ts'

const paths = ['/v1/network', '/.well-known/airproof.json']
/** Requests at once: a tenth of a minute's. */
const burst = 20

type Network = {
  readonly chain: { readonly id: number; readonly demonstration: boolean } | null
  readonly contracts: readonly {
    readonly address: string
    readonly block: number
    readonly code_hash: string
    readonly owner_at: readonly number[]
  }[]
}

/** Without a key. */
const ask = async (url: string, path: string, init: RequestInit = {}): Promise<Response> => {
  const answer = await fetch(url + path, init)
  await mustBeDocumented('GET', path, answer)
  return answer
}

describe('an anchored network', () => {
  let api: AnchoredApi
  beforeAll(async () => {
    api = await anchoredApi({
      env: {
        AIRPROOF_NETWORK_NAME: 'Abuja',
        AIRPROOF_PUBLIC_URL: 'https://air.example/',
        AIRPROOF_DATA_LICENCE: 'CC-BY-4.0',
        AIRPROOF_ARCHIVE_URL: 'https://archive.example/abuja',
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const network = (path = paths[0] ?? '') =>
    eventually('the contract is known', async () => {
      const printed = (await (await ask(api.url, path)).json()) as Network
      return printed.chain === null ? undefined : printed
    })

  test('says without a key which chain and contract it is, and whose data', async () => {
    const printed = await network()
    expect(printed).toEqual({
      format: 'airproof.network.v1',
      name: 'Abuja',
      api: 'https://air.example',
      chain: { id: 31_337, name: 'chain 31337, a demonstration chain', demonstration: true },
      contracts: [
        {
          address: api.deployment.contract,
          version: 1,
          block: api.deployment.block,
          code_hash: expect.any(String),
          owner_at: expect.any(Array),
          last_batch: null,
          begins: {
            after_batch: 0,
            head: expect.stringMatching(/^0x[0-9a-f]{64}$/),
            numbers: Array.from({ length: 16 }, () => 0),
          },
          ends: null,
        },
      ],
      versions: {
        api: ['v1'],
        leaf: [1, 2],
        header: [1, 2],
        bundle: ['airproof.proof.v1', 'airproof.proof.v2'],
        format_level: expect.any(Number),
      },
      licence: 'CC-BY-4.0',
      attribution: 'Abuja',
      archive: 'https://archive.example/abuja',
    })
    expect(await network(paths[1])).toEqual(printed)
  })

  test('names the code that is on the chain, with zeros in place of the owner', async () => {
    const [contract] = (await network()).contracts
    const code = await api.anvil.rpc('eth_getCode', [contract?.address, 'latest'])
    const bytes = Buffer.from(String(code).slice(2), 'hex')
    for (const at of contract?.owner_at ?? []) bytes.fill(0, at, at + 32)
    expect(toHex(keccak256(bytes))).toBe(contract?.code_hash)
  })

  test('is kept by a client for as long as it stays the same', async () => {
    await network()
    for (const path of paths) {
      const etag = (await ask(api.url, path)).headers.get('etag') ?? ''
      const again = await ask(api.url, path, { headers: { 'if-none-match': etag } })
      expect([again.status, await again.text()]).toEqual([304, ''])
    }
  })
})

test('a network that has anchored nothing has neither chain nor contract, and one address asks within a limit', async () => {
  await using api = await testApi({
    env: { AIRPROOF_OPEN_PROOFS_PER_MINUTE: String(10 * burst), AIRPROOF_CHAIN_NAME: 'Elsewhere' },
  })
  const printed = await (await ask(api.url, '/v1/network')).json()
  expect(printed).toMatchObject({ name: 'Lagos', chain: null, contracts: [], licence: null })
  const statuses = []
  for (let n = 0; n < 2 * burst; n++) statuses.push((await ask(api.url, paths[n % 2] ?? '')).status)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
})
