/** `airproof anchor writer`: which account anchors, and another one with the owner's key. */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kvm } from '@nats-io/kv'
import { readAnchorConfig } from '../../anchor/config.ts'
import { readKeyFile } from '../../anchor/deploy/key-file.ts'
import { changeOf, isSame, readRoles, setWriter } from '../../anchor/deploy/set-writer.ts'
import type { Hex } from '../../core/hex.ts'
import { noContract } from '../../core/proof/chain-record.ts'
import { exitCodes, MustAct } from '../../runtime/exit.ts'
import { readDeployments } from '../../runtime/nats/read-deployments.ts'
import { type Flags, readSettings } from '../../runtime/settings.ts'
import type { AnyDeployment } from '../../schemas/anchoring/deployments.ts'
import { buckets } from '../../schemas/subjects.ts'
import type { CommandContext } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { addressFlag, textFlag } from '../shell/words.ts'
import { chainOf } from './chain-of.ts'

export const writer = (context: CommandContext): Promise<number> =>
  withInstance(context, async (nc, { dataFolder }) => {
    const { env, flags, note, print, stop } = context
    const config = readAnchorConfig({ env, flags }, dataFolder)
    const kv = await new Kvm(nc).open(buckets.anchoring)
    const deployment = chosen(await readDeployments(kv), config.contract)
    const { contract, chainId } = deployment
    const ask = chainOf(config, dataFolder, deployment)
    const roles = await readRoles(ask, deployment)
    const wanted = wantedWriter(flags)
    const isJson = flags['json'] === true
    if (wanted === undefined || isSame(wanted, roles.writer)) {
      const { keyFile } = config
      const own = existsSync(keyFile) ? { key: readKeyFile(keyFile).address } : {}
      const facts = { contract, chainId, ...roles, ...own }
      print(isJson ? JSON.stringify(facts) : inLines(facts))
      return exitCodes.done
    }
    const change = { deployment, roles, writer: wanted }
    const words = `the writer of ${contract} on chain ${chainId}: ${named(wanted)} instead of ${named(roles.writer)}`
    const keyFile = readSettings({ env, flags }).text('ANCHOR_OWNER_KEY_FILE')
    if (keyFile === undefined) {
      const unsigned = { from: roles.owner, ...changeOf(change), value: '0x0' }
      note(`${words}. Sign and send this with the owner's account, in any wallet:`)
      print(isJson ? JSON.stringify(unsigned) : inLines(unsigned))
      return exitCodes.done
    }
    const account = readKeyFile(keyFile, 'ANCHOR_OWNER_KEY_FILE')
    note(`${words}. The owner ${account.address} signs and pays`)
    const pause = (ms: number) => sleep(ms, undefined, { signal: stop })
    await setWriter({ ask, account, rules: config.fees, pause, stop }, change)
    const facts = { contract, chainId, owner: roles.owner, writer: wanted }
    print(isJson ? JSON.stringify(facts) : inLines(facts))
    return exitCodes.done
  })

/** The newest, or the one that ANCHOR_CONTRACT names. @throws MustAct */
function chosen(deployments: readonly AnyDeployment[], contract: string | undefined) {
  const found =
    contract === undefined
      ? deployments.at(-1)
      : deployments.find((deployment) => deployment.contract === contract)
  if (found !== undefined) return found
  throw new MustAct(
    contract === undefined
      ? 'there is no contract yet: `airproof anchor deploy` makes one'
      : `ANCHOR_CONTRACT is ${contract}, and these data were never anchored there`,
  )
}

/** `none`: the zero address, which has no key. @throws WrongUsage */
const wantedWriter = (flags: Flags): Hex | undefined =>
  textFlag(flags, 'set') === 'none' ? noContract : addressFlag(flags, 'set')

const named = (address: Hex): string => (isSame(address, noContract) ? 'none' : address)

const inLines = (facts: Readonly<Record<string, unknown>>): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name.padEnd(8)}  ${String(value)}`)
    .join('\n')
