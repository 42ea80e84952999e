/**
 * Our own anvil: the chain of a demonstration. It has its blocks only in memory, so we store a copy
 * of its state every few minutes, and when it stops. After a kill it continues from the last copy;
 * the sender sends later transactions again.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { demonstrationChainId } from '../../core/proof/demonstration-chain.ts'
import { minuteMs, secondMs } from '../../core/time.ts'
import { codeOf, MustAct } from '../exit.ts'
import type { Logger } from '../log.ts'
import { type Child, exitInWords, startChild } from '../machine/child.ts'
import { writePrivateFile } from '../private-file.ts'
import type { Environment } from '../settings.ts'
import { endOrphan } from './orphan.ts'

export type Anvil = Child & {
  readonly url: string
  /** Durable when it resolves. */
  readonly keepState: () => Promise<void>
}

type StartOptions = {
  /** `find-anvil.ts` */
  readonly command: string
  /** The copies of its state. One anvil at a time uses it. */
  readonly folder: string
  readonly port: number
  readonly env: Environment
  readonly log?: Logger
  readonly keepEveryMs?: number
}

/** Fixed: with another first block the chain would look like a different one after a restart. */
const genesisS = Date.UTC(2026, 0, 1) / secondMs
const loopback = '127.0.0.1'
/** A block every 12 s and one per transaction; final two blocks later. */
const flags =
  `--host ${loopback} --chain-id ${demonstrationChainId} --timestamp ${genesisS} --slots-in-an-epoch 1 --block-time 12 --mixed-mining --quiet`.split(
    ' ',
  )
const readyWithinMs = 60_000
const keepStateEveryMs = 5 * minuteMs

/** Resolves when it responds, its clock set to ours. @throws MustAct with its last lines */
export async function startAnvil(options: StartOptions): Promise<Anvil> {
  const { command, folder, port, env, log, keepEveryMs = keepStateEveryMs } = options
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const pidFile = join(folder, 'anvil.pid')
  // in the command line, so that an anvil that a killed supervisor left can be recognised
  const cache = join(folder, 'cache')
  if (await endOrphan(pidFile, cache)) log?.warn('ended an anvil left over from a killed run')
  const state = stateIn(folder, log)
  const lastLines: string[] = []
  const child = await startChild({
    command,
    args: [
      ...flags,
      '--port',
      String(port),
      '--cache-path',
      cache,
      ...(state === undefined ? [] : ['--load-state', state]),
    ],
    env,
    isGuarded: true,
    onLine: (line) => {
      lastLines.push(line)
      if (lastLines.length > 5) lastLines.shift()
      log?.debug(line)
    },
  })
  writePrivateFile(pidFile, `${child.pid}\n`)
  const url = `http://${loopback}:${port}`
  try {
    await untilReady(child, url)
    await ask(url, 'evm_setTime', [Math.floor(Date.now() / secondMs)])
  } catch (cause) {
    await child.stop()
    throw new MustAct(`anvil did not start: ${lastLines.join(' | ')}`, { cause })
  }
  const keepState = (): Promise<void> => writeState(url, folder)
  const timer = setInterval(() => {
    keepState().catch((error: unknown) =>
      log?.warn({ err: error }, 'could not store a copy of the chain'),
    )
  }, keepEveryMs)
  void child.exited.then(() => clearInterval(timer))
  const stop: Child['stop'] = async (how) => {
    clearInterval(timer)
    if (child.isAlive()) await keepState().catch(() => undefined)
    return child.stop(how)
  }
  return { ...child, url, keepState, stop, [Symbol.asyncDispose]: async () => void (await stop()) }
}

const stateFile = 'state.json'
const formerFile = 'state.former.json'

/** The newest complete copy; undefined: the chain starts from its first block. */
function stateIn(folder: string, log: Logger | undefined): string | undefined {
  for (const name of [stateFile, formerFile]) {
    const file = join(folder, name)
    const text = readText(file)
    if (text === undefined) continue
    if (isWhole(text)) return file
    log?.error({ file }, 'a copy of the chain is incomplete: using the previous one')
  }
  return undefined
}

function isWhole(text: string): boolean {
  try {
    const state: unknown = JSON.parse(text)
    return typeof state === 'object' && state !== null && 'blocks' in state
  } catch {
    return false
  }
}

/** The chain as it is now, as a start on `<data folder>/chain/state.json` reads it. */
export async function chainState(url: string): Promise<Uint8Array> {
  const dump = await ask(url, 'anvil_dumpState')
  if (typeof dump !== 'string') throw new TypeError('anvil returned no state')
  return gunzipSync(Buffer.from(dump.slice(2), 'hex'))
}

async function writeState(url: string, folder: string): Promise<void> {
  const aside = join(folder, `${stateFile}.new`)
  const bytes = await chainState(url)
  try {
    writeFileSync(aside, bytes, { mode: 0o600, flush: true })
    if (readText(join(folder, stateFile)) !== undefined)
      renameSync(join(folder, stateFile), join(folder, formerFile))
    renameSync(aside, join(folder, stateFile))
  } finally {
    rmSync(aside, { force: true })
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

async function untilReady(child: Child, url: string): Promise<void> {
  const deadlineMs = performance.now() + readyWithinMs
  for (;;) {
    if (!child.isAlive()) throw new Error(exitInWords(await child.exited))
    const chainId = await ask(url, 'eth_chainId').catch(() => undefined)
    if (chainId !== undefined) return
    if (performance.now() > deadlineMs) throw new Error(`silent for ${readyWithinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** One JSON-RPC request. @throws Error with the node's message */
async function ask(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(30_000),
  })
  const answer: unknown = await response.json()
  if (typeof answer === 'object' && answer !== null && 'result' in answer) return answer.result
  throw new Error(`${method}: ${JSON.stringify(answer)}`)
}
