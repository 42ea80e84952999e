import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mnemonicToAccount } from 'viem/accounts'
import { demonstrationChainId } from '../../core/proof/demonstration-chain.ts'
import { type Child, exitInWords, startChild } from '../../runtime/machine/child.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { environment } from '../../runtime/process/config.ts'
import { eventually } from './eventually.ts'

/** A test chain is always this one: with a fixed genesis it is the same chain after a restart. */
export const anvilChainId = demonstrationChainId
const genesisS = Date.UTC(2026, 0, 1) / 1000

export type TestAnvil = AsyncDisposable & {
  readonly url: string
  readonly pid: () => number
  /** SIGKILL: no message, no flush. */
  readonly kill: () => Promise<void>
  /** SIGSTOP and SIGCONT: running, but silent. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Restarts on the same port: from nothing, or from its state file if it has one. */
  readonly restart: () => Promise<void>
  /** One JSON-RPC call. @throws Error with the node's message */
  readonly rpc: (method: string, params?: readonly unknown[]) => Promise<unknown>
}

type AnvilOptions = {
  /** Where it keeps its state between restarts. */
  readonly statePath?: string
  readonly chainId?: number
  /** More flags. */
  readonly args?: readonly string[]
}

/** A rich account of anvil's well-known mnemonic: 0 deploys and owns, the others as a test likes. */
export const anvilAccount = (addressIndex = 0) =>
  mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex })

/** A real anvil on a free port, gone when disposed. A transaction is mined as it arrives. */
export async function testAnvil({
  statePath,
  chainId = anvilChainId,
  args = [],
}: AnvilOptions = {}): Promise<TestAnvil> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const rpc: TestAnvil['rpc'] = (method, params = []) => call(url, method, params)
  const start = async (): Promise<Child> => {
    const lastWords: string[] = []
    const child = await startChild({
      command: anvilCommand(),
      args: [
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
        '--chain-id',
        String(chainId),
        '--timestamp',
        String(genesisS),
        '--slots-in-an-epoch',
        '1',
        '--block-time',
        '12',
        '--mixed-mining',
        ...(statePath === undefined ? [] : ['--state', statePath]),
        ...args,
      ],
      env: environment(),
      onLine: (line) => {
        lastWords.push(line)
        if (lastWords.length > 5) lastWords.shift()
      },
    })
    try {
      await eventually('anvil answers', async () => {
        if (!child.isAlive()) {
          throw new Error(`anvil: ${exitInWords(await child.exited)}: ${lastWords.join(' | ')}`)
        }
        return rpc('eth_chainId').catch(() => undefined)
      })
    } catch (cause) {
      await child.stop()
      throw cause
    }
    return child
  }
  let child = await start()
  return {
    url,
    rpc,
    pid: () => child.pid,
    kill: async () => {
      child.kill('SIGKILL')
      await child.exited
    },
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    restart: async () => {
      await child.stop()
      child = await start()
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGCONT')
      await child.stop()
    },
  }
}

/** npm's, if it was installed, else the machine's. */
function anvilCommand(): string {
  const own = join('node_modules', '.bin', 'anvil')
  return existsSync(own) ? own : 'anvil'
}

/** No keep-alive connection: it would outlive the node, and a test that leaves one fails. */
async function call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error }: { result?: unknown; error?: { message: string } } = JSON.parse(
    await answer.text(),
  )
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}
