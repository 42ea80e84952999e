/** What a person should know of: each is a metric, and an error in the log when it begins. */
export const alarmReasons = [
  /** A transaction of ours was mined and did nothing: sending stops until a resync. */
  'REVERTED',
  /** The key's nonces are not what they should be: sending waits, and stops when it is final. */
  'NONCE',
  /** The contract holds a head that none of our batches left. */
  'DIVERGED',
  /** The contract, or a node, would not take a transaction. */
  'REFUSED',
  /** The chain asks for more than the cap: waiting. */
  'FEE_CAP',
  /** The account cannot pay: waiting. */
  'NO_FUNDS',
  'WRONG_CHAIN',
  'CHAIN_AWAY',
] as const
export type AlarmReason = (typeof alarmReasons)[number]
export type Alarm = { readonly reason: AlarmReason; readonly words: string }
