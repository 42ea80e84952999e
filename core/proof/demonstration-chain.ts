/**
 * The chain id of anvil, the chain that `airproof up` runs on the operator's own machine. The
 * operator writes its blocks, and so their times.
 */
export const demonstrationChainId = 31_337
