/** Each check of docs/proofs.md as a reader's question. */
const questions: Readonly<Record<string, string>> = {
  format: 'Is it a proof, written exactly as proofs are?',
  pins: 'Is it of the chain and the contract that were asked for?',
  leaf: 'Do these values give this fingerprint?',
  path: 'Does the fingerprint lead to the root of its batch?',
  batch: 'Is its number one of those that the batch gives out?',
  head: 'Does the batch follow the one before it?',
  block: 'Is it the block it says it is?',
  transaction: 'Does the block hold the transaction that wrote the root?',
  receipt: 'Did that transaction succeed, and did the contract take the root?',
  'trusted block': 'Is it the block you named?',
  node: 'Does a node of the chain know this block? This page reaches none.',
}

export const questionOf = (check: string): string => questions[check] ?? check

/** Why a batch is not final yet. */
export const waitWords: Readonly<Record<string, string>> = {
  sealed: 'Its batch is sealed and will be sent to the blockchain next.',
  sent: 'Its batch was sent to the blockchain, and waits for a block.',
  mined: 'Its batch is in a block; some more blocks make it final.',
  not_checked: 'The blockchain was not checked for five minutes.',
  not_linked: 'The batches do not lead to what the contract holds. The operator has to look at it.',
}

/** What does not match. */
export const mismatchWords: Readonly<Record<string, string>> = {
  leaf: 'The stored values are not those that were anchored: the row was altered.',
  blob: 'The fingerprints of its batch were altered.',
  header: 'The record of its batch was altered.',
  no_batch: 'No batch holds its number.',
  not_in_log: 'Its number was never given out: the row was made up.',
}

/** The form of a block's hash: `0x` and 64 hexadecimal digits. */
export const isHash = (text: string): boolean => /^0x[0-9a-f]{64}$/.test(text)
