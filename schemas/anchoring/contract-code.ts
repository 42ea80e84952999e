import type { Hex } from '../../core/hex.ts'

/**
 * The code of each version of the contract, as the chain has it. The owner is in the code itself,
 * so `hash` is keccak256 of the code with zeros in its place: 32 bytes from each of `ownerAt` on.
 */
export const contractCodes = {
  1: {
    hash: '0x1bfc2b1831bfe501ee4a6e18baa565485afed2a7346106455147a8f0f7b5db60',
    ownerAt: [208, 308],
  },
  2: {
    hash: '0xcee56c78636502759e00c84258acc4c7cffb386bc37e1cffeadb4734d37c1813',
    ownerAt: [1287, 1508],
  },
} as const satisfies Readonly<
  Record<number, { readonly hash: Hex; readonly ownerAt: readonly number[] }>
>

export type ContractVersion = keyof typeof contractCodes
