import { type Ask, openRpc } from '../../anchor/chain/rpc.ts'
import type { AnchorConfig } from '../../anchor/config.ts'
import { WrongUsage } from '../../runtime/exit.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import type { Deployment } from '../../schemas/anchoring/batch-record.ts'

/** Asks the nodes that are set, else the one that `up` runs here. @throws WrongUsage there is none */
export function chainOf(
  { rpcUrls, rpcTimeoutMs: timeoutMs, chainId }: AnchorConfig,
  dataFolder: string,
  deployment?: Deployment,
): Ask {
  const running = readRunningInstance(dataFolder)?.rpc
  const urls = rpcUrls.length > 0 || running === undefined ? rpcUrls : [running]
  if (urls.length === 0) throw new WrongUsage('which chain? set CHAIN_RPC_URL (--chain-rpc-url)')
  const expected = { chainId: deployment?.chainId ?? chainId, genesisHash: deployment?.genesisHash }
  return openRpc({ urls, timeoutMs, expected })
}
