/** What a transaction offers for its place in a block. Wei; pure. */

export type Fees = {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

export type FeeRules = {
  /** No transaction ever offers more for a unit of gas. */
  readonly capWei: bigint
  /** How long a transaction waits before it offers more. */
  readonly bumpAfterMs: number
}

/** What the newest block charges. */
export type Market = { readonly baseFee: bigint; readonly tip: bigint }

/**
 * Twice the base fee lasts for six full blocks in a row. Below that the cap decides; where not
 * even the present base fee and tip fit under it there is no offer: wait, and report it.
 */
export function offer({ baseFee, tip }: Market, { capWei }: FeeRules): Fees | undefined {
  if (baseFee + tip > capWei) return undefined
  return { maxFeePerGas: min(2n * baseFee + tip, capWei), maxPriorityFeePerGas: tip }
}

/**
 * An offer that may replace `former`: nodes want both fees at least 10 % higher, some 12.5 %.
 * undefined where that, or the market's price, is above the cap.
 */
export function raise(former: Fees, market: Market, rules: FeeRules): Fees | undefined {
  const wanted = offer(market, rules)
  const raised = {
    maxFeePerGas: max(eighthMore(former.maxFeePerGas), wanted?.maxFeePerGas ?? 0n),
    maxPriorityFeePerGas: max(
      eighthMore(former.maxPriorityFeePerGas),
      wanted?.maxPriorityFeePerGas ?? 0n,
    ),
  }
  return raised.maxFeePerGas > rules.capWei ? undefined : raised
}

/** Rounded up, and at least one more. */
const eighthMore = (wei: bigint): bigint => wei + max((wei + 7n) / 8n, 1n)
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
