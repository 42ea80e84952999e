/**
 * The chain id of anvil, the chain that `airproof up` runs on the operator's own machine. The
 * operator writes its blocks, and so their times.
 */
export const demonstrationChainId = 31_337

/** Every place that names a chain asks this one function whether it is for demonstration only. */
export const isDemonstrationChain = (chainId: number): boolean => chainId === demonstrationChainId

/** A chain as pages and commands name it. @param name that the operator gives it; its number unless given */
export const chainInWords = (chainId: number, name = String(chainId)): string =>
  isDemonstrationChain(chainId) ? `${name}, a demonstration chain` : name
