import { Kvm } from '@nats-io/kv'
import { readAnchorConfig } from '../../anchor/config.ts'
import { readKeyFile } from '../../anchor/deploy/key-file.ts'
import { resync } from '../../anchor/send/resync.ts'
import { exitCodes, MustAct } from '../../runtime/exit.ts'
import { readDeployments } from '../../runtime/nats/read-deployments.ts'
import { buckets } from '../../schemas/subjects.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { processCommand } from '../shell/process-command.ts'
import { exactWords, subcommand } from '../shell/words.ts'
import { chainOf } from './chain-of.ts'
import { deploy } from './deploy.ts'
import { writer } from './writer.ts'

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
  load: async () => (await import('../../anchor/main.ts')).run,
})

export const command: Command = {
  summary: running.summary,
  help: `\
usage: airproof anchor [flags]
       airproof anchor deploy --owner ADDRESS [--from-batch N]
       airproof anchor writer [--set ADDRESS|none] [--anchor-owner-key-file FILE]
       airproof anchor resync

Without a word it runs until Ctrl-C or SIGTERM. It needs a chain (CHAIN_RPC_URL, several with
commas), a key in a file that only its owner may read (ANCHOR_KEY_FILE, mode 0600) and a contract.

  deploy   puts the contract on the chain, and writes it down; the key pays and is the writer. Once:
           later it makes another contract only to go on from the one before, after an upgrade or a
           stolen key (docs/chain.md)
  writer   shows which account anchors and which one owns the contract; --set names another writer
  resync   after alarm REVERTED or NONCE: takes the chain's word for what is anchored and goes on

  --owner ADDRESS             may name another writer, the only way to take the contract back from a
                              stolen key: another account, whose key no process has. Not needed on
                              the demonstration chain
  --from-batch N              the last batch that counts, where the contract holds others after it:
                              the new contract goes on after N, and N + 1 is anchored again
  --set ADDRESS|none          the new writer; none stops all anchoring until there is another one
  --anchor-owner-key-file FILE   the owner's key, to sign the change here (mode 0600; take it away
                              afterwards). Without it the command prints what the owner has to sign
                              in any wallet, and sends nothing
  --chain-rpc-url URL,…       --chain-id N            --anchor-key-file FILE
  --anchor-contract ADDRESS   --anchor-contract-block N
  --anchor-interval 10m       --anchor-max-readings N --anchor-max-fee-gwei N
  --json                      print data as JSON: {"contract", "chainId", "genesisHash", "block"},
                              writer {"contract", "chainId", "owner", "writer", "key": the
                              account of ANCHOR_KEY_FILE} or what to sign,
                              {"from", "to", "data", "value"}

examples:
  npx airproof anchor deploy --owner 0x… --chain-rpc-url https://rpc.example.org \\
    --anchor-key-file anchor.key
  npx airproof anchor --chain-rpc-url https://rpc.example.org --anchor-key-file anchor.key
  npx airproof anchor writer --set none
  npx airproof anchor writer --set 0x… --anchor-owner-key-file /media/stick/owner.key
  npx airproof anchor resync`,
  isLasting: true,
  options: {
    ...Object.fromEntries(settings.map((name) => [name, { type: 'string' } as const])),
    owner: { type: 'string' },
    'from-batch': { type: 'string' },
    set: { type: 'string' },
    'anchor-owner-key-file': { type: 'string' },
    json: { type: 'boolean' },
  },
  run: async (context) => {
    if (context.words.length === 0) return running.run(context)
    const [verb, words] = subcommand('anchor', context.words, verbs)
    exactWords(words)
    return verb(context)
  },
}

const resyncNow = (context: CommandContext): Promise<number> =>
  withInstance(context, async (nc, { dataFolder }) => {
    const { env, flags, print } = context
    const config = readAnchorConfig({ env, flags }, dataFolder)
    const kv = await new Kvm(nc).open(buckets.anchoring)
    const deployment = (await readDeployments(kv)).at(-1)
    if (deployment === undefined) throw new MustAct('nothing was ever anchored: `anchor deploy`')
    const account = readKeyFile(config.keyFile)
    const pair = await resync({
      nc,
      kv,
      deployment,
      account,
      ask: chainOf(config, dataFolder, deployment),
    })
    print(
      flags['json'] === true
        ? JSON.stringify(pair)
        : `continues with batch ${pair.index0} and nonce ${pair.nonce0}`,
    )
    return exitCodes.done
  })

const verbs = { deploy: (context: CommandContext) => deploy(context), writer, resync: resyncNow }
