/** `airproof anchor deploy`: the contract, and after it another one that goes on from it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Ask } from '../../anchor/chain/rpc.ts'
import { readAnchorConfig } from '../../anchor/config.ts'
import { deployRegistry } from '../../anchor/deploy/deploy.ts'
import { keepDeployment } from '../../anchor/deploy/deployment.ts'
import { findBeginning } from '../../anchor/deploy/find-beginning.ts'
import { readKeyFile } from '../../anchor/deploy/key-file.ts'
import { isSame, readRoles } from '../../anchor/deploy/set-writer.ts'
import { goOnAfter } from '../../anchor/send/resync.ts'
import { noContract, noRecord } from '../../core/proof/chain-record.ts'
import { chainInWords } from '../../core/proof/demonstration-chain.ts'
import { batchVersionOf } from '../../core/proof/header.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { readSealed } from '../../operate/exports/sealed-headers.ts'
import { exitCodes, MustAct, WrongUsage } from '../../runtime/exit.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { currentValues } from '../../runtime/nats/buckets/last-values.ts'
import { readEntry } from '../../runtime/nats/buckets/read-entry.ts'
import { levelOf } from '../../runtime/nats/format-level.ts'
import { readDeployments } from '../../runtime/nats/read-deployments.ts'
import { needStreams } from '../../runtime/nats/streams/streams.ts'
import { borderKey, parseBorder, type SealedBatch } from '../../schemas/anchoring/batch-record.ts'
import type { ContractVersion } from '../../schemas/anchoring/contract-code.ts'
import {
  type AnyDeployment,
  contractVersionAt,
  contractVersionOf,
  nextPlace,
} from '../../schemas/anchoring/deployments.ts'
import { buckets } from '../../schemas/subjects.ts'
import { alivePrefixes, systemKeys } from '../../schemas/system-keys.ts'
import type { CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { addressFlag, wholeFlag } from '../shell/words.ts'
import { chainOf } from './chain-of.ts'

export const deploy = (context: CommandContext): Promise<number> =>
  withInstance(context, async (nc, { dataFolder, replicas }) => {
    const { env, flags, note, print, stop } = context
    const config = readAnchorConfig({ env, flags }, dataFolder)
    const account = readKeyFile(config.keyFile)
    const fromBatch = wholeFlag(flags, 'from-batch', { min: 0 })
    await needStreams(nc, { replicas })
    const kvm = new Kvm(nc)
    const kv = await kvm.open(buckets.anchoring)
    const level = levelOf(await (await kvm.open(buckets.system)).get(systemKeys.format))
    const version = contractVersionAt(level)
    const known = await readDeployments(kv)
    const keccak = await createKeccak()
    assertNeeded(known, version, fromBatch)
    const ask = chainOf(config, dataFolder, known.at(-1))
    const next =
      version === 1 ? undefined : await beginningOf(nc, { ask, keccak, known, fromBatch })
    if (next !== undefined) for (const line of plan(next, known)) note(line)
    const made = await deployRegistry({
      ask,
      account,
      owner: addressFlag(flags, 'owner') ?? account.address,
      rules: config.fees,
      pause: (ms) => sleep(ms, undefined, { signal: stop }),
      stop,
      ...(next && { beginning: next.beginning }),
    })
    const deployment = await keep(kv, made, version === 1 ? 1 : nextPlace(known))
    // killed before this, the sender raises NONCE, and `anchor resync` does the same
    if (next !== undefined && known.length > 0) {
      const place = { index: next.beginning.from.index, last: next.last, writer: account.address }
      await goOnAfter(kv, place)
    }
    for (const former of known) {
      const { contract } = former
      const { writer } = await readRoles(ask, former)
      if (isSame(writer, noContract)) continue
      note(
        `nothing should be anchored in ${contract} any more: its owner shuts it with \`airproof anchor writer --anchor-contract ${contract} --set none\` (docs/chain.md)`,
      )
    }
    print(
      flags['json'] === true
        ? JSON.stringify(deployment)
        : `contract ${deployment.contract} on chain ${chainInWords(deployment.chainId)}; block ${deployment.block}`,
    )
    return exitCodes.done
  })

/** @throws MustAct there is a contract already, and none to go on from it was asked for; WrongUsage */
function assertNeeded(
  known: readonly AnyDeployment[],
  version: ContractVersion,
  fromBatch: number | undefined,
): void {
  if (version === 1 && fromBatch !== undefined)
    throw new WrongUsage(
      '--from-batch needs a contract of version 2, which comes with format level 3: `airproof upgrade`',
    )
  const newest = known.at(-1)
  if (newest === undefined || contractVersionOf(newest) < version) return
  if (version === 2 && fromBatch !== undefined) return
  const { contract, chainId } = newest
  throw new MustAct(
    version === 1
      ? `these data are anchored in ${contract} on chain ${chainId} already: another contract needs other data`
      : `these data are anchored in ${contract} on chain ${chainId} already: if it holds batches that are not yours, name the last one that is with --from-batch N (docs/chain.md)`,
  )
}

type Beginning = Awaited<ReturnType<typeof findBeginning>>
type Found = { readonly beginning: Beginning; readonly last: number }
type Place = {
  readonly ask: Ask
  readonly keccak: Keccak
  readonly known: readonly AnyDeployment[]
  readonly fromBatch: number | undefined
}

async function beginningOf(nc: NatsConnection, place: Place): Promise<Found> {
  const { ask, keccak, known, fromBatch } = place
  if (known.length === 0) return { beginning: { former: noContract, from: noRecord }, last: 0 }
  await assertNoAnchorRuns(nc)
  const { sealed } = await readSealed(nc)
  const choice = fromBatch === undefined ? {} : { fromBatch }
  const beginning = await findBeginning({ ask, keccak, deployments: known, sealed, ...choice })
  assertVersion2(beginning.from.index, sealed)
  const newest = known.at(-1)
  if (newest !== undefined && contractVersionOf(newest) === 1)
    await assertAtBorder(nc, beginning.from.index)
  return { beginning, last: sealed.size }
}

/** @throws MustAct batches after it hold leaves of version 1, which contract 2 does not */
function assertVersion2(index: number, sealed: ReadonlyMap<number, SealedBatch>): void {
  const of1 = [...sealed.values()]
    .map(({ header }) => header)
    .filter((header) => header.index > index && batchVersionOf(header) === 1)
  const last = of1.reduce((most, header) => Math.max(most, header.index), 0)
  if (last === 0) return
  throw new MustAct(
    `batches ${index + 1} to ${last} hold readings of before format level 3, and no contract of version 2 can hold these: name a batch from ${last} on if it is good, or read "Batches of version 1" in docs/chain.md`,
  )
}

/** @throws MustAct contract 1 must still get readings of before format level 3 */
async function assertAtBorder(nc: NatsConnection, last: number): Promise<void> {
  const batches = await new Kvm(nc).open(buckets.batches)
  if (parseBorder(await readEntry(batches, borderKey))?.index === last) return
  throw new MustAct(
    'the former contract does not have all readings of before format level 3 yet: run `airproof anchor` until it raises alarm CONTRACT, stop it, and deploy again',
  )
}

/** It signs for the old contract, with the same key. @throws MustAct */
async function assertNoAnchorRuns(nc: NatsConnection): Promise<void> {
  const alive = await currentValues(nc, buckets.leases, `${alivePrefixes.anchor}*`)
  if (alive.size > 0)
    throw new MustAct(
      'an anchor process runs, and would still send to the old contract: stop `airproof anchor` (or `airproof up`), and deploy again after a minute',
    )
}

function plan({ beginning: { former, from }, last }: Found, known: readonly AnyDeployment[]) {
  if (known.length === 0) return []
  const lines =
    from.index === 0
      ? ['no batch is anchored yet: the new contract begins at the first one']
      : [
          `batch ${from.index} in ${former} is the last one that counts: the new contract goes on after it`,
        ]
  if (last > from.index)
    lines.push(`batches ${from.index + 1} to ${last} do not count there: they are anchored again`)
  return lines
}

/** @throws MustAct another process was quicker */
async function keep(kv: KV, made: AnyDeployment, k: number): Promise<AnyDeployment> {
  const recorded = await keepDeployment(kv, made, k)
  if (recorded.contract === made.contract) return recorded
  throw new MustAct(
    `another process deployed ${recorded.contract} meanwhile, and that one counts: ${made.contract} is not used`,
  )
}
