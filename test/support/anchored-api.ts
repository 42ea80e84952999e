/** The API and a real anchor process, on a live anvil that mines when a test requests it. */
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import { openRpc } from '../../anchor/chain/rpc.ts'
import { deployRegistry } from '../../anchor/deploy/deploy.ts'
import { ensureKeyFile } from '../../anchor/deploy/key-file.ts'
import { run } from '../../anchor/main.ts'
import { openLog } from '../../runtime/log.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import {
  anchoredKey,
  type Checked,
  checkedKey,
  type Deployment,
  headerKey,
  type SealedBatch,
} from '../../schemas/anchoring/batch-record.ts'
import { buckets } from '../../schemas/subjects.ts'
import { type TestAnvil, testAnvil } from './anvil.ts'
import { type TestApi, testApi } from './api.ts'
import { eventually } from './eventually.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type AnchoredApi = TestApi & {
  readonly anvil: TestAnvil
  readonly deployment: Deployment
  /** Resolves when everything committed so far is in a batch that is final; @returns its index */
  readonly anchored: () => Promise<number>
  /** Resolves when everything committed so far is in a sealed batch; no block is mined. */
  readonly sealed: () => Promise<number>
  readonly sealedBatch: (index: number) => Promise<SealedBatch>
  /** Stops the anchor: the chain is no longer followed, and nothing more is sealed. */
  readonly stopAnchor: () => Promise<void>
  /** The environment of the process, for another one or for a command. */
  readonly anchorEnv: Readonly<Record<string, string>>
}

const gwei = 1_000_000_000n

export async function anchoredApi(
  options: Parameters<typeof testApi>[0] = {},
): Promise<AnchoredApi> {
  await using opened = new AsyncDisposableStack()
  const anvil = opened.use(await testAnvil())
  const folder = opened.use(temporaryFolder())
  const api = await testApi(options)
  opened.use(api)
  const keyFile = join(folder.path, 'anchor.key')
  const account = ensureKeyFile(keyFile)
  await anvil.rpc('anvil_setBalance', [account.address, `0x${(10n ** 19n).toString(16)}`])
  const stop = new AbortController()
  const deployment = await deployRegistry({
    ask: openRpc({
      urls: [anvil.url],
      timeoutMs: 5_000,
      expected: { chainId: undefined, genesisHash: undefined },
    }),
    account,
    owner: account.address,
    rules: { capWei: 100n * gwei, bumpAfterMs: 60_000 },
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20))),
    stop: stop.signal,
  })
  const anchorEnv = {
    AIRPROOF_DATA: folder.path,
    AIRPROOF_LOG: 'silent',
    NATS_URL: api.nats.url,
    CHAIN_RPC_URL: anvil.url,
    ANCHOR_CONTRACT: deployment.contract,
    ANCHOR_CONTRACT_BLOCK: String(deployment.block),
    ANCHOR_KEY_FILE: keyFile,
    ANCHOR_INTERVAL: '250ms',
    ANCHOR_POLL: '100ms',
  }
  const source = { env: anchorEnv, flags: {} }
  const config = readSharedConfig(source)
  const log = openLog({ name: 'anchor', level: 'silent' })
  const done = run({ config, ...source, log, stop: stop.signal })
  // reported by the code below that waits for it
  done.catch(() => undefined)
  let isStopped = false
  const stopAnchor = async (): Promise<void> => {
    if (isStopped) return
    isStopped = true
    stop.abort('test')
    await done
  }
  opened.defer(stopAnchor)

  const kv = await new Kvm(api.nc).open(buckets.batches)
  const json = async <T>(key: string): Promise<T | undefined> => {
    const entry = await kv.get(key)
    return entry?.operation === 'PUT' ? entry.json<T>() : undefined
  }
  const sealed = (): Promise<number> =>
    Promise.race([
      done.then(() => Promise.reject(new Error('the anchor process has ended'))),
      eventually('everything is sealed', async () => {
        for (let index = 1; ; index++) {
          const batch = await json<SealedBatch>(headerKey(index))
          if (batch === undefined) return undefined
          if (batch.header.last >= api.lastSeq()) return index
        }
      }),
    ])
  const anchored = async (): Promise<number> => {
    const index = await sealed()
    await eventually(
      `batch ${index} is final`,
      async () => {
        await anvil.rpc('anvil_mine', ['0x2'])
        const record = await json<{ status: string }>(anchoredKey(index))
        const checked = await json<Checked>(checkedKey)
        return record?.status === 'final' && (checked?.index ?? 0) >= index
      },
      { everyMs: 100 },
    )
    return index
  }
  const all = opened.move()
  return {
    ...api,
    anvil,
    deployment,
    anchored,
    sealed,
    stopAnchor,
    anchorEnv,
    sealedBatch: async (index) => {
      const batch = await json<SealedBatch>(headerKey(index))
      if (batch === undefined) throw new Error(`batch ${index} is not sealed`)
      return batch
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
