import { setTimeout as sleep } from 'node:timers/promises'
import { Kvm } from '@nats-io/kv'
import { openRpc } from '../anchor/chain/rpc.ts'
import { readAnchorConfig } from '../anchor/config.ts'
import { deployRegistry } from '../anchor/deploy/deploy.ts'
import { keepDeployment, readDeployment } from '../anchor/deploy/deployment.ts'
import { readKeyFile } from '../anchor/deploy/key-file.ts'
import { resync } from '../anchor/send/resync.ts'
import type { Hex } from '../core/hex.ts'
import { chainInWords, isDemonstrationChain } from '../core/proof/demonstration-chain.ts'
import { exitCodes, MustAct, WrongUsage } from '../runtime/exit.ts'
import { readRunningInstance } from '../runtime/machine/running-instance.ts'
import { needStreams } from '../runtime/nats/streams.ts'
import type { Flags } from '../runtime/settings.ts'
import { buckets } from '../schemas/subjects.ts'
import type { Command, CommandContext } from './shell/command.ts'
import { withInstance } from './shell/instance.ts'
import { processCommand } from './shell/process-command.ts'
import { exactWords, subcommand, textFlag } from './shell/words.ts'

const settings = [
  'chain-rpc-url',
  'chain-id',
  'anchor-contract',
  'anchor-contract-block',
  'anchor-key-file',
  'anchor-interval',
  'anchor-max-readings',
  'anchor-max-fee-gwei',
]

const running = processCommand({
  name: 'anchor',
  summary: 'seal readings into batches and anchor them on a chain (one process)',
  load: async () => (await import('../anchor/main.ts')).run,
})

export const command: Command = {
  summary: running.summary,
  help: `\
usage: airproof anchor [flags]
       airproof anchor deploy --owner ADDRESS
       airproof anchor resync

Without a word it runs until Ctrl-C or SIGTERM. It needs a chain (CHAIN_RPC_URL, several with
commas), a key in a file that only its owner may read (ANCHOR_KEY_FILE, mode 0600) and a contract.

  deploy   puts the contract on the chain, once, and writes it down; the key pays and is the writer
  resync   after alarm REVERTED or NONCE: takes the chain's word for what is anchored and goes on

  --owner ADDRESS             may name another writer, the only way to take the contract back from a
                              stolen key: another account, whose key no process has. Not needed on
                              the demonstration chain
  --chain-rpc-url URL,…       --chain-id N            --anchor-key-file FILE
  --anchor-contract ADDRESS   --anchor-contract-block N
  --anchor-interval 10m       --anchor-max-readings N --anchor-max-fee-gwei N
  --json                      print data as JSON: {"contract", "chainId", "genesisHash", "block"}

examples:
  npx airproof anchor deploy --owner 0x… --chain-rpc-url https://rpc.example.org \\
    --anchor-key-file anchor.key
  npx airproof anchor --chain-rpc-url https://rpc.example.org --anchor-key-file anchor.key
  npx airproof anchor resync`,
  isLasting: true,
  options: {
    ...Object.fromEntries(settings.map((name) => [name, { type: 'string' } as const])),
    owner: { type: 'string' },
    json: { type: 'boolean' },
  },
  run: async (context) => {
    if (context.words.length === 0) return running.run(context)
    const [verb, words] = subcommand('anchor', context.words, { deploy, resync: resyncNow })
    exactWords(words)
    return verb(context)
  },
}

const deploy = (context: CommandContext): Promise<number> =>
  withInstance(context, async (nc, { dataFolder, replicas }) => {
    const { env, flags, print, stop } = context
    const config = readAnchorConfig({ env, flags }, dataFolder)
    const account = readKeyFile(config.keyFile)
    const ask = askOf(config, dataFolder)
    const owner = ownerOf(flags, account.address, Number(await ask('eth_chainId')))
    await needStreams(nc, { replicas })
    const kv = await new Kvm(nc).open(buckets.anchoring)
    const known = await readDeployment(kv)
    if (known !== undefined)
      throw new MustAct(
        `these data are anchored in ${known.contract} on chain ${known.chainId} already: another contract needs other data`,
      )
    const made = await deployRegistry({
      ask,
      account,
      owner,
      rules: config.fees,
      pause: (ms) => sleep(ms, undefined, { signal: stop }),
      stop,
    })
    const deployment = await keepDeployment(kv, made)
    print(
      flags['json'] === true
        ? JSON.stringify(deployment)
        : `contract ${deployment.contract} on chain ${chainInWords(deployment.chainId)}; block ${deployment.block}`,
    )
    return exitCodes.done
  })

/** @throws WrongUsage where a stolen writer key would own the contract for ever */
function ownerOf(flags: Flags, writer: Hex, chainId: number): Hex {
  const owner = textFlag(flags, 'owner')
  if (owner !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(owner))
    throw new WrongUsage(`--owner must be an address, and is "${owner}"`)
  if (isDemonstrationChain(chainId)) return owner === undefined ? writer : `0x${owner.slice(2)}`
  if (owner !== undefined && owner.toLowerCase() !== writer.toLowerCase())
    return `0x${owner.slice(2)}`
  throw new WrongUsage(
    `--owner must name an account other than the writer ${writer}: the writer's key is on a server, and a thief could never be shut out of a contract that it owns`,
  )
}

const resyncNow = (context: CommandContext): Promise<number> =>
  withInstance(context, async (nc, { dataFolder }) => {
    const { env, flags, print } = context
    const config = readAnchorConfig({ env, flags }, dataFolder)
    const kv = await new Kvm(nc).open(buckets.anchoring)
    const deployment = await readDeployment(kv)
    if (deployment === undefined) throw new MustAct('nothing was ever anchored: `anchor deploy`')
    const account = readKeyFile(config.keyFile)
    const pair = await resync({
      nc,
      kv,
      deployment,
      account,
      ask: askOf(config, dataFolder, deployment),
    })
    print(
      flags['json'] === true
        ? JSON.stringify(pair)
        : `continues with batch ${pair.index0} and nonce ${pair.nonce0}`,
    )
    return exitCodes.done
  })

function askOf(
  { rpcUrls, rpcTimeoutMs: timeoutMs, chainId }: ReturnType<typeof readAnchorConfig>,
  dataFolder: string,
  deployment?: { readonly chainId: number; readonly genesisHash: `0x${string}` },
) {
  const running = readRunningInstance(dataFolder)?.rpc
  const urls = rpcUrls.length > 0 || running === undefined ? rpcUrls : [running]
  if (urls.length === 0) throw new WrongUsage('which chain? set CHAIN_RPC_URL (--chain-rpc-url)')
  const expected = { chainId: deployment?.chainId ?? chainId, genesisHash: deployment?.genesisHash }
  return openRpc({ urls, timeoutMs, expected })
}
