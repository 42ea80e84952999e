/** The nodes of the chain, the contract on it, the writer's key and coin, and the anchor's alarms. */
import { existsSync } from 'node:fs'
import { chainAt } from '../../anchor/chain/chain.ts'
import { type Ask, openRpc, WrongChain } from '../../anchor/chain/rpc.ts'
import { type AnchorConfig, readAnchorConfig } from '../../anchor/config.ts'
import { versionOn } from '../../anchor/deploy/deployment.ts'
import { readKeyFile } from '../../anchor/deploy/key-file.ts'
import { isDemonstrationChain } from '../../core/proof/demonstration-chain.ts'
import { hourMs, minuteMs, secondMs } from '../../core/time.ts'
import { readAnchorStatus } from '../../operate/anchor-status.ts'
import { readNewestContract } from '../../operate/newest-contract.ts'
import { inWords, MustAct } from '../../runtime/exit.ts'
import type { Deployment } from '../../schemas/anchoring/batch-record.ts'
import type { Check, World } from './check.ts'
import { broken, brokenBy, type Finding, ok, orOk, warning } from './finding.ts'
import { clockFinding } from './nats-checks.ts'

/** Within the time of a check, with several questions to a node. */
const answerWithinMs = 1_200

export const chainCheck: Check = {
  name: 'chain',
  needs: 'nothing',
  isBeforeUp: true,
  run: async (world) => {
    const { config, running, source } = world
    const anchor = readAnchorConfig(source, config.dataFolder)
    const urls =
      anchor.rpcUrls.length === 0 && running?.rpc !== undefined ? [running.rpc] : anchor.rpcUrls
    const { deployment, isRead, alarms } = await recordedOf(world)
    if (urls.length === 0)
      return [...alarms, ok('CHAIN_RPC_URL is not set: `up` starts a chain of its own')]
    const asked = { anchor, deployment, isRead, nowMs: world.nowMs }
    const nodes = await Promise.all(urls.map((url) => examineNode(url, asked)))
    const answering = nodes.find(({ ask }) => ask !== undefined)
    const findings = [...alarms, ...nodes.flatMap((node) => node.findings)]
    if (answering?.ask === undefined) return findings
    return orOk(
      [
        // one that answers is enough, for now
        ...findings.map((each) =>
          each.level === 'broken' ? { ...each, level: 'warning' as const } : each,
        ),
        ...(await contractFindings(answering.ask, asked)),
      ],
      answering.words,
    )
  },
}

type Recorded = {
  readonly deployment: Deployment | undefined
  /** Whether the instance could be asked for it. */
  readonly isRead: boolean
  readonly alarms: readonly Finding[]
}

/** What the instance knows of its contract, and what its anchor process cannot do. */
async function recordedOf({ nats, isMade }: World): Promise<Recorded> {
  const nothing = { deployment: undefined, alarms: [], isRead: false }
  const nc = await nats().catch(() => undefined)
  if (nc === undefined) return nothing
  if (!(await isMade())) return { ...nothing, isRead: true }
  const [deployment, { alarms }] = await Promise.all([
    readNewestContract(nc),
    readAnchorStatus(nc, 0),
  ])
  return {
    deployment,
    isRead: true,
    alarms: alarms.map(({ reason, words }) =>
      broken(`the anchor process reports ${reason}: ${words}`, 'docs/chain.md has the way out'),
    ),
  }
}

type Asked = Pick<Recorded, 'deployment' | 'isRead'> & {
  readonly anchor: AnchorConfig
  readonly nowMs: () => number
}

type Node = {
  /** undefined: it cannot be used. */
  readonly ask: Ask | undefined
  readonly words: string
  readonly findings: readonly Finding[]
}

async function examineNode(url: string, { anchor, deployment, nowMs }: Asked): Promise<Node> {
  // the path may be a secret
  const { host } = new URL(url)
  const chainId = anchor.chainId ?? deployment?.chainId
  const expected = { chainId, genesisHash: deployment?.genesisHash }
  const ask = openRpc({ urls: [url], timeoutMs: answerWithinMs, expected })
  try {
    const [id, block] = await Promise.all([
      ask('eth_chainId').then(Number),
      ask('eth_getBlockByNumber', ['latest', false]),
    ])
    const { number, timestamp } = Object(block)
    const words = `chain ${id} at ${host}, block ${Number(number)}`
    const agoMs = nowMs() - Number(timestamp) * secondMs
    return { ask, words, findings: headFindings(agoMs, { host, id }) }
  } catch (error) {
    if (error instanceof WrongChain)
      return failed(
        `the node ${host}: ${error.message}`,
        'correct CHAIN_RPC_URL, or CHAIN_ID if it is set',
      )
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    return failed(
      `the node ${host} does not answer (${inWords(cause)})`,
      'check CHAIN_RPC_URL, and whether the node runs; with several, separated by commas, one that answers is enough',
    )
  }
}

const failed = (what: string, fix: string): Node => ({
  ask: undefined,
  words: '',
  findings: [broken(what, fix)],
})

/** A chain of our own has a block only when something is sent. */
function headFindings(
  agoMs: number,
  { host, id }: { readonly host: string; readonly id: number },
): readonly Finding[] {
  const ahead = agoMs < 0 ? clockFinding(agoMs, `chain ${id}`) : undefined
  if (ahead !== undefined) return [ahead]
  if (agoMs < hourMs || isDemonstrationChain(id)) return []
  return [
    warning(
      `the newest block of the node ${host} is ${Math.round(agoMs / minuteMs)} minutes old`,
      'see whether it follows its chain, or use another node',
    ),
  ]
}

async function contractFindings(
  ask: Ask,
  { anchor, deployment, isRead }: Asked,
): Promise<readonly Finding[]> {
  const contract = deployment?.contract ?? anchor.contract
  // it is in NATS, whose own check says what is wrong
  if (contract === undefined && !isRead) return []
  if (contract === undefined)
    return [
      warning(
        'there is no contract yet, so nothing is anchored',
        '`airproof anchor deploy` makes one; `up` does, on a chain of its own',
      ),
    ]
  if (anchor.contract !== undefined && anchor.contract !== contract)
    return [
      broken(
        `ANCHOR_CONTRACT is ${anchor.contract}, and the anchors of this data are in ${contract}`,
        'unset ANCHOR_CONTRACT',
      ),
    ]
  const version = await versionOn(ask, contract).catch((error: unknown) => {
    if (error instanceof MustAct) return undefined
    throw error
  })
  if (version === undefined)
    return [
      broken(
        `there is no contract of ours at ${contract} on this chain`,
        'correct CHAIN_RPC_URL or ANCHOR_CONTRACT; docs/chain.md says what to do where a chain was lost',
      ),
    ]
  const account = writerOf(anchor.keyFile)
  if (account === undefined) return []
  if ('level' in account) return [account]
  const chain = chainAt(ask, contract, account.address, version)
  const [{ writer }, balance, price] = await Promise.all([
    chain.roles(),
    chain.balance(),
    ask('eth_gasPrice'),
  ])
  return [
    ...(writer.toLowerCase() === account.address.toLowerCase()
      ? []
      : [
          broken(
            `the key in ${anchor.keyFile} is of ${account.address}, and the contract takes anchors from ${writer}`,
            'set ANCHOR_KEY_FILE to the writer’s key, or name the new writer: `airproof anchor writer`',
          ),
        ]),
    ...coinFindings(account.address, balance, BigInt(String(price))),
  ]
}

/** About what one anchor takes, and how many should be paid for in advance: a week of them. */
const [anchorGas, fewestAnchors] = [150_000n, 1_000n]

function coinFindings(address: string, balance: bigint, price: bigint): readonly Finding[] {
  const each = anchorGas * (price === 0n ? 1n : price)
  const anchors = balance / each
  if (anchors >= fewestAnchors) return []
  const what = `the writer ${address} has ${Number(balance) / 1e18} of the chain's coin, enough for ${anchors} anchors at today's price`
  return [(anchors === 0n ? broken : warning)(what, 'send some of the coin to this address')]
}

/** undefined: the key is not on this machine, so the anchor process is on another one. */
function writerOf(file: string): ReturnType<typeof readKeyFile> | Finding | undefined {
  if (!existsSync(file)) return undefined
  try {
    return readKeyFile(file)
  } catch (error) {
    return brokenBy(error)
  }
}
