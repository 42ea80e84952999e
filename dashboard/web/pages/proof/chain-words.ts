/** Chains by their names, so that a reader knows what a number stands for. */
import { isDemonstrationChain } from '../../../../core/proof/demonstration-chain.ts'
import type { ProofTexts } from '../../../texts/en/proof.ts'

/** By their ids of EIP-155; a chain's name is the same in every language. */
const chainNames: ReadonlyMap<number, string> = new Map([
  [1, 'Ethereum'],
  [10, 'OP Mainnet'],
  [56, 'BNB Smart Chain'],
  [100, 'Gnosis Chain'],
  [137, 'Polygon'],
  [8453, 'Base'],
  [42_161, 'Arbitrum One'],
  [42_220, 'Celo'],
  [43_114, 'Avalanche C-Chain'],
  [59_144, 'Linea'],
  [84_532, 'Base Sepolia'],
  [80_002, 'Polygon Amoy'],
  [560_048, 'Hoodi'],
  [11_155_111, 'Sepolia'],
  [11_155_420, 'OP Sepolia'],
])

/** @param isTest the network's file calls it a demonstration chain */
export function chainName(
  id: number,
  texts: Pick<ProofTexts, 'chain' | 'chainNumber'>,
  isTest = isDemonstrationChain(id),
): string {
  return texts.chain(chainNames.get(id) ?? texts.chainNumber(id), isTest)
}
