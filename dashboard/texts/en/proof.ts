/** The words of the proof page, of the badges of proofs, and of a sensor's table. */
import { count } from './write.ts'

export const proof = {
  title: 'Proof of a reading',
  checkTitle: 'Check a proof',
  intro:
    'Readings are anchored on a blockchain, many at once. A proof is one small file. Your browser checks it here by itself; the file is not sent anywhere.',
  testChain: 'Local test chain, not public: proofs here are for demonstration only.',
  testChainShort: 'test chain',
  chain: (name: string, isTest: boolean) => (isTest ? `${name}, a local test chain` : name),
  chainNumber: (id: number) => `chain ${id}`,
  backToOwn: 'Back to the proof of this reading',
  checking: 'Checking in your browser…',
  asking: 'Asking for the proof…',
  noVerifier: 'The verifier could not be loaded. Check the connection and reload the page.',
  certificate: 'Certificate of a reading',

  verdict: {
    matches: 'Matches this network and a block you confirmed',
    consistent: 'Consistent – block not confirmed yet',
    unpinned: 'Consistent – network and block not confirmed',
    foreign: 'Valid proof, but of another network',
    invalid: 'Not valid',
  },
  verdictWords: {
    matches: (block: string) =>
      `These exact values were anchored by this network in block ${block}, and that block is part of the chain. They have not changed since.`,
    consistent: (block: string) =>
      `The values fit this proof, and it leads to this network’s contract in block ${block}. One step is left: to confirm that this block is really part of the chain. Until then they are plausible, not proven.`,
    unpinned: (block: string) =>
      `Everything in this proof fits together, up to block ${block}. This network’s own record could not be loaded, so it is not known which network the proof is of.`,
    foreign: (contract: string, chain: string) =>
      `Everything in this proof fits together, but it was made by contract ${contract} on ${chain}, which is not one of this network. It says nothing about this network’s sensors.`,
  },
  /** Why a file is not valid, by the check that failed. */
  invalid: {
    format: 'This file is not an airproof proof, or was edited.',
    newer: 'This proof is of a newer version than this page knows. Check it with a newer verifier.',
    tooLarge: 'This file is too large for a proof. A proof is about 8 kB.',
    notJson: 'This file is not an airproof proof: it is not a JSON file.',
    network: 'This file names a network. It is not a proof of a reading.',
    pins: 'It names this network’s contract, but lies outside of what that contract holds.',
    leaf: 'The values in this file do not give its fingerprint: they were changed after it was anchored.',
    'signed text': 'What the sensor signed is not this reading.',
    signature: 'The sensor’s key did not sign this reading.',
    path: 'The fingerprint does not lead to its batch.',
    batch: 'The batch’s own counts do not fit this reading.',
    head: 'The batch does not follow the one before it.',
    block: 'The block is not the one that it says it is.',
    transaction: 'The block does not hold the transaction that anchored the batch.',
    receipt: 'The transaction failed, or the contract did not record the batch.',
    'trusted block': 'It is in another block than the one you named.',
    node: 'The node you asked has another block in its place.',
    code: 'The contract’s code is not that of this network.',
  },
  expectedIs: { expected: 'In the file', found: 'From the values' },

  path: {
    label: 'From the sensor to the block',
    sensor: 'Sensor',
    accepted: 'Accepted',
    batch: 'Batch',
    block: 'Block',
    signed: 'Signed by its key',
    signatureUnchecked: 'Signed; this browser cannot check it',
    unsigned: 'Not signed',
    fits: 'Values match the fingerprint',
    changed: 'Values do not match',
    number: (n: string) => `Reading no. ${n}`,
    batchNumber: (n: string) => `Batch ${n}`,
    complete: (readings: number) =>
      `${count(readings, { one: 'reading', other: 'readings' })}, none missing`,
    counted: (readings: number) => count(readings, { one: 'reading', other: 'readings' }),
    blockNumber: (n: string) => `Block ${n}`,
    confirmed: 'Confirmed by you',
    notConfirmed: 'Not confirmed yet',
    waiting: 'Waiting',
    next: 'Next',
    done: 'checked',
    failed: 'does not hold',
    open: 'open',
  },

  time: {
    title: 'When',
    measured: 'Measured',
    measuredBy: 'by the sensor’s clock',
    sealed: 'Batch sealed',
    sealedBy: 'by the operator’s clock',
    notBefore: 'Sealed not before',
    notAfter: 'Existed not after',
    ofBlock: (n: string) => `block ${n}`,
    unknownTime: (hash: string) => `the time of block ${hash}: ask a node to learn it`,
    noBeacon: 'not recorded',
    clocksDiffer: 'The block’s time is before the measurement: one of the clocks is wrong.',
  },

  values: 'What was measured',
  sensor: 'Sensor',
  area: 'Area',
  index: 'AQI of this reading',

  statements: {
    title: 'What is proven, and what you still have to trust',
    proven: 'Proven',
    trust: 'To trust',
    existed: (block: string) =>
      `It existed with exactly these values when block ${block} was made.`,
    unchanged: 'Its values have not changed since.',
    ofNetwork: 'It was anchored by this network’s contract.',
    unique: 'No other reading bears its number, and none before it was left out.',
    signedBy: (key: string) => `It was signed by the holder of the key ${key}.`,
    blockReal: (block: string) => `Block ${block} is part of the chain.`,
    codeIs: 'The contract has the code of this network.',
  },
  /** What the verifier leaves to trust, in the page's words. */
  trusts: {
    demonstration: 'The time of the block: on a local test chain the operator can set any time.',
    nodeTransaction: 'The node tells the truth about the transaction.',
    block: (block: string) => `Block ${block} is real. Check its hash on a block explorer.`,
    nodeBlock: 'The node tells the truth about the block.',
    contract: 'The contract is that of the network you mean.',
    code: 'The contract has the code that takes no number twice and leaves none out.',
    range: 'No other contract of this network holds a reading of the same number.',
    begin: 'The contract began where this network’s file says.',
    beforeBegin: 'Nothing before the beginning of the contract was left out.',
    measured: 'The sensor measured what it sent: the proof begins where the reading was accepted.',
    index: 'The index (AQI) is that of these values: the operator computes it.',
    complete: 'No other reading has the same number, and the batch holds as many as it counts.',
    second: 'The sensor has no second reading of the same time under another number.',
    unsigned: 'The sensor sent it: it is not signed, so the operator could have made it up.',
    key: 'The key that signed it is that of the sensor.',
    signatureUnchecked: 'The sensor’s key signed it: this browser could not check the signature.',
    laterValues: 'Values without a name are those that were signed.',
    strange: 'Nothing that was signed under another name was left out.',
    notBefore: (hash: string) => `“Not before”: ${hash} is a block of the chain.`,
    ownNetwork:
      'This page names the network’s contract, and it comes from the operator. Compare the contract with one you know from elsewhere, or verify offline.',
  },

  confirm: {
    title: 'Confirm the block',
    why: 'Anyone can make a block of their own. Ask a node that you trust whether this one is part of the chain.',
    node: 'Address of a public node of the chain',
    nodeHint: 'Only this node is asked, from your browser. Nothing else is sent.',
    ask: 'Ask this node',
    asking: 'Asking…',
    wrongAddress: 'An address of a node begins with https:// (or http://localhost).',
    hash: 'Or compare the block’s hash: paste it from a source that you trust',
    hashHint: 'For example from a block explorer of your choice.',
    wrongHash: 'A hash is 0x and 64 hexadecimal digits.',
    confirmedBy: (host: string) => `${host} says that the block is part of the chain, and final.`,
    noAnswer: (host: string) =>
      `${host} cannot be reached, or does not answer pages. Try another node, or verify offline.`,
    otherChain: (host: string) => `${host} is a node of another chain. Name one of this chain.`,
    notFinal: (host: string) =>
      `${host} knows the block, but it is not final yet. Ask again later.`,
    explorer: 'See the transaction on a block explorer',
  },

  checks: {
    title: 'Every check your browser made',
    held: 'Yes',
    failed: 'No',
    notAsked: 'Not asked',
    format: 'File format: airproof proof',
    pins: 'Network: anchored by this network’s contract',
    leaf: 'Values match the fingerprint',
    'signed text': 'The sensor signed these values',
    signature: 'The signature fits the key',
    path: 'The fingerprint is in the batch',
    batch: 'Batch complete: its numbers have no gap',
    head: 'The batch follows the one before it',
    block: 'The block is the one it says it is',
    transaction: 'The block holds the transaction',
    receipt: 'Transaction succeeded',
    'trusted block': 'It is the block you named',
    node: 'A node knows the block',
    code: 'The contract’s code',
  },

  details: {
    title: 'Where it is anchored',
    chain: 'Chain',
    block: 'Block',
    blockHash: 'Block hash',
    contract: 'Contract',
    transaction: 'Transaction',
    fingerprint: 'Fingerprint',
    copy: (what: string) => `Copy: ${what}`,
    copied: 'Copied',
    copyFailed: 'Copy by hand: not allowed here',
  },

  share: {
    title: 'Hand it on',
    link: 'Link to this proof',
    copy: 'Copy link',
    copyProof: 'Copy link to the proof',
    qr: 'QR code of the link to this proof',
    download: 'Download proof',
    print: 'Print',
    printed: (utc: string) => `Checked in a browser at ${utc} UTC.`,
  },

  offline: {
    title: 'Verify offline',
    words:
      'This page runs {verifier}, which needs no server. Keep it with the proof and this network’s {network:own file}: they stay valid without this service.',
    command: 'Command that checks a proof',
  },

  drop: {
    title: 'Check a file',
    label: 'Drop a .airproof.json file anywhere on this page, or choose one',
    unreadable: 'This file cannot be read.',
    file: (name: string) => `File: ${name}`,
  },

  waiting: {
    title: 'Waiting to be anchored',
    onItsWay: 'On its way to the blockchain',
    words: 'Readings are anchored in batches every few minutes. Updates automatically.',
    expected: 'Expected in',
    by: 'Expected by',
    anyMoment: 'any moment now',
    offline: 'Live data is unavailable. We keep trying.',
    reasons: {
      sealed: 'Its batch is sealed and is sent to the blockchain next.',
      sent: 'Its batch was sent and waits for a block.',
      mined: 'Its batch is in a block. A few more blocks make it final.',
      not_checked: 'The blockchain could not be checked for five minutes.',
      not_linked: 'The batches do not lead to what the contract holds. The operator has to look.',
    },
    step: 'Its batch is on its way.',
  },
  altered: {
    title: 'Altered after it was anchored',
    notified:
      'The operator has been notified. A proof file saved earlier can still be checked below.',
    reasons: {
      leaf: 'The stored values are not those that were anchored.',
      blob: 'The fingerprints of its batch were altered.',
      header: 'The record of its batch was altered.',
      no_batch: 'No batch holds its number.',
      not_in_log: 'Its number was never given out: the row was made up.',
    },
    other: 'What is stored and what was anchored differ.',
  },
  otherVersion: {
    title: 'This link is for a different version of the reading',
    words: 'The link names a fingerprint that this reading does not have. It has:',
  },

  badge: {
    waiting: 'waiting',
    anyMoment: 'any moment',
    inBatch: 'in a batch',
    checked: (batch: string) => `batch ${batch}`,
    checkingOne: 'checking…',
    altered: 'altered',
    failed: 'does not match',
    proofOf: (time: string) => `proof of the reading of ${time}`,
    legend:
      'A tick means that your browser has checked the reading’s fingerprint up to its block. “In a batch” is the server’s word, not checked yet.',
    check: 'Check these readings',
    checkingRows: (left: number) =>
      `Checking, ${count(left, { one: 'reading', other: 'readings' })} left…`,
  },

  table: {
    title: 'Readings',
    caption: (id: string) => `Readings of ${id}, newest first`,
    time: 'Time',
    aqi: 'AQI',
    proof: 'Proof',
    quality: 'Quality',
    notes: (notes: number) => count(notes, { one: 'note', other: 'notes' }),
    download: 'Download the newest 1,000 as CSV',
    none: 'No readings yet',
    noneWords: 'The first one the sensor sends appears here.',
    more: 'Load more',
    late: 'Live data is unavailable. We keep trying.',
  },
}

export type ProofTexts = typeof proof
