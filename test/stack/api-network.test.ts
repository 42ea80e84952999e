import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keccak256 } from '../../anchor/verifier/airproof-verify.js'
import { toHex } from '../../core/hex.ts'
import { ourVersion } from '../../runtime/version.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { testApi } from '../support/api.ts'
import { createSigner } from '../support/device-signer.ts'
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
      id: expect.stringMatching(/^[0-9a-f]{12}$/),
      name: 'Abuja',
      api: 'https://air.example',
      chain: {
        id: 31_337,
        name: 'chain 31337, a local test chain, for demonstration only',
        demonstration: true,
      },
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
        software: ourVersion(),
        api: ['v1'],
        leaf: [1, 2],
        header: [1, 2],
        bundle: ['airproof.proof.v1', 'airproof.proof.v2'],
        format_level: expect.any(Number),
      },
      licence: 'CC-BY-4.0',
      attribution: 'Abuja',
      archive: 'https://archive.example/abuja',
      sensor_keys: 'https://air.example/v1/network/keys/{sensor_id}',
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

test('the keys of a sensor are known without a key, with when each was entered', async () => {
  await using api = await testApi({
    env: { AIRPROOF_OPEN_PROOFS_PER_MINUTE: String(10 * burst) },
  })
  const { publicKey } = createSigner('ed25519', 'now')
  const former = createSigner('p256', 'before').publicKey
  const added = { from: '2026-03-01T00:00:00Z', added_at: '2026-02-28T10:00:00Z' }
  await api.register({
    id: 'NGR-LOS-IKJ-001',
    keys: [
      { algorithm: 'p256', public_key: former, from: '2026-01-01T00:00:00Z', until: added.from },
      { algorithm: 'ed25519', public_key: publicKey, ...added },
    ],
    signature: 'required',
    signature_since: '2026-03-02T00:00:00Z',
  })
  await api.register({ id: 'NGR-LOS-IKJ-002' })
  const keysOf = (id: string, init?: RequestInit) => ask(api.url, `/v1/network/keys/${id}`, init)
  const answer = await eventually('the sensor is known', async () => {
    const read = await keysOf('NGR-LOS-IKJ-001')
    return read.status === 200 && read
  })
  expect(await answer.json()).toEqual({
    status: 'success',
    sensor_id: 'NGR-LOS-IKJ-001',
    signature: 'required',
    signature_since: '2026-03-02T00:00:00.000Z',
    keys: [
      {
        algorithm: 'p256',
        public_key: former,
        from: '2026-01-01T00:00:00.000Z',
        until: '2026-03-01T00:00:00.000Z',
        added_at: null,
      },
      {
        algorithm: 'ed25519',
        public_key: publicKey,
        from: '2026-03-01T00:00:00.000Z',
        until: null,
        added_at: '2026-02-28T10:00:00.000Z',
      },
    ],
  })
  const etag = answer.headers.get('etag') ?? ''
  expect((await keysOf('NGR-LOS-IKJ-001', { headers: { 'if-none-match': etag } })).status).toBe(304)
  // one that does not sign
  expect(await (await keysOf('NGR-LOS-002')).json()).toMatchObject({
    sensor_id: 'NGR-LOS-IKJ-002',
    signature: 'optional',
    signature_since: null,
    keys: [],
  })
  expect((await keysOf('NGR-LOS-IKJ-404')).status).toBe(404)
  // the bound of what is asked without a key
  const statuses = []
  for (let n = 0; n < 2 * burst; n++) statuses.push((await keysOf('NGR-LOS-IKJ-001')).status)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
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
