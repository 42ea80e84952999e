/**
 * A node's answer to a transaction, by the messages of the nodes in use. "Already
 * known" and "nonce too low" are answers, not failures: what happened is read from the chain.
 */
export type SendAnswer =
  /** It is in the pool, newly or already. */
  | 'pooled'
  /** Its nonce is taken in a block, by one of our versions or by something else. */
  | 'nonce_used'
  /** The pool holds another transaction of the nonce, and this one does not offer enough more. */
  | 'underpriced'
  /** The base fee is above its offer. */
  | 'fee_too_low'
  | 'no_funds'
  /** Anything else; the words are logged. */
  | 'refused'

const phrases: readonly (readonly [RegExp, SendAnswer])[] = [
  [/already (known|imported|exists)|alreadyknown|known transaction|existing tx/i, 'pooled'],
  [/nonce (is )?too low|oldnonce|nonce.*(already|lower)/i, 'nonce_used'],
  [/replacement|underpriced|gas price too low to replace/i, 'underpriced'],
  [/less than block base fee|fee cap less than|maxfeepergas.*base/i, 'fee_too_low'],
  [/insufficient (funds|balance)|insufficientfunds/i, 'no_funds'],
]

export const answerOf = (words: string): SendAnswer =>
  phrases.find(([phrase]) => phrase.test(words))?.[1] ?? 'refused'
