/**
 * The chain id of anvil, the chain that `airproof up` runs on the operator's own machine. The
 * operator writes its blocks, and so their times.
 */
export const demonstrationChainId = 31_337

/** What development nodes run: anvil and Hardhat, and what Ganache and geth in its development mode do. */
const developmentChainIds: ReadonlySet<number> = new Set([demonstrationChainId, 1337])

/** Every place that names a chain asks this one function whether it is for demonstration only. */
export const isDemonstrationChain = (chainId: number): boolean => developmentChainIds.has(chainId)

/** A chain as pages and commands name it. @param name that the operator gives it; its number unless given */
export const chainInWords = (chainId: number, name = String(chainId)): string =>
  isDemonstrationChain(chainId) ? `${name}, a local test chain, for demonstration only` : name
