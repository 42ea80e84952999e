// Runs the published verifier with a node that the reader names: see pages/proof/ask-node.ts.
import { verifyFile } from './airproof-verify.js'

/** The number and the time of a block, if the node knows it. */
async function blockOf(rpc, hash) {
  if (/^0x0*$/.test(hash)) return null
  try {
    const answer = await fetch(rpc, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_getBlockByHash',
        params: [hash, false],
      }),
      signal: AbortSignal.timeout(15_000),
    })
    const { result } = await answer.json()
    const [number, timeMs] = [Number(result.number), Number(result.timestamp) * 1000]
    return Number.isSafeInteger(number) && Number.isSafeInteger(timeMs) ? { number, timeMs } : null
  } catch {
    return null
  }
}

self.onmessage = async ({ data: { bytes, network, rpc, beacon } }) => {
  const verification = await verifyFile(bytes, { network, rpc })
  postMessage({ verification, beacon: verification.ok ? await blockOf(rpc, beacon) : null })
}
