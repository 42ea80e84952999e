/** An anvil and anchor processes on it, each of which may be killed and started again. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NatsConnection } from '@nats-io/transport-node'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { ensureContract } from '../../../anchor/deploy/ensure-contract.ts'
import { openSealedBatches } from '../../../anchor/sealed-batches.ts'
import { beforeFirst } from '../../../core/proof/batch.ts'
import { startAnvil } from '../../../runtime/engines/anvil.ts'
import { findAnvil } from '../../../runtime/engines/find-anvil.ts'
import { createKeccak } from '../../../runtime/hashes/keccak.ts'
import { type Child, startChild } from '../../../runtime/machine/child.ts'
import { freePort } from '../../../runtime/machine/free-port.ts'
import { environment } from '../../../runtime/process/config.ts'
import { signInAs } from '../nats.ts'

const env = environment()

type Options = {
  readonly nc: NatsConnection
  readonly natsUrl: string
  readonly folder: string
  /** Closes everything that is opened here. */
  readonly opened: AsyncDisposableStack
}

export async function anchorInstance({ nc, natsUrl, folder, opened }: Options) {
  const command = await findAnvil(env)
  if (command === undefined) throw new Error('no anvil on this machine')
  const port = await freePort()
  const chainFolder = join(folder, 'chain')
  const keyFile = join(folder, 'anchor.key')
  const key = generatePrivateKey()
  writeFileSync(keyFile, key, { mode: 0o600 })
  const url = `http://127.0.0.1:${port}`
  const stop = new AbortController().signal
  const contract = ensureContract({ url, account: privateKeyToAccount(key), stop })
  const startChain = async () => {
    const anvil = await startAnvil({ command, folder: chainFolder, port, env })
    if (await contract.ensure()) await anvil.keepState()
    return anvil
  }
  let chain = await startChain()
  opened.defer(async () => void (await chain.stop()))
  const address = await contract.remember(nc)
  const batches = opened.use(
    await openSealedBatches(nc, [beforeFirst(31_337, address, await createKeccak())]),
  )
  const printed: string[] = []
  const startAnchor = async (): Promise<Child> =>
    await startChild({
      command: process.execPath,
      args: ['bin/airproof.mjs', 'anchor'],
      env: {
        ...env,
        AIRPROOF_DATA: folder,
        AIRPROOF_ADMIN_PORT: '0',
        NATS_URL: natsUrl,
        ...signInAs('anchor'),
        CHAIN_RPC_URL: url,
        ANCHOR_KEY_FILE: keyFile,
        ANCHOR_INTERVAL: '200ms',
        // it runs for as long as the file's tests do, and each look costs
        ANCHOR_POLL: '250ms',
        ANCHOR_MAKES_CONTRACTS: 'true',
        AIRPROOF_LOG: 'info',
      },
      onLine: (line) => printed.push(line),
    })
  let anchor = await startAnchor()
  opened.defer(async () => void (await anchor.stop()))
  return {
    url,
    address,
    batches,
    anchor: () => anchor,
    /** Every line of every anchor process. */
    printed,
    /** As its supervisor does when it has ended by itself. @returns its exit code */
    startAgain: async (): Promise<number | null> => {
      const { code } = await anchor.exited
      anchor = await startAnchor()
      return code
    },
    killAnchor: async (): Promise<void> => {
      anchor.kill('SIGKILL')
      await anchor.exited
      anchor = await startAnchor()
    },
    /** Its state file is incomplete, too. */
    killChain: async (): Promise<void> => {
      chain.kill('SIGKILL')
      await chain.exited
      writeFileSync(join(chainFolder, 'state.json'), '{"torn": ')
      chain = await startChain()
    },
    /** Mines a block; does nothing while the chain is unavailable. */
    mine: async (): Promise<void> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine', params: [] })
      const headers = { 'content-type': 'application/json', connection: 'close' }
      await fetch(url, { method: 'POST', headers, body }).then(
        (response) => response.text(),
        () => '',
      )
    },
    /** Everything up to that sequence of READINGS is in final batches. */
    isFinal: async (last: number): Promise<boolean> => {
      await batches.barrier()
      const index = batches.last()
      return (
        (batches.get(index)?.header.last ?? 0) >= last &&
        batches.anchored(index)?.status === 'final'
      )
    },
  }
}
