/** The verifier's statements in the page's words. A statement without words of ours is shown as it is. */
import type { ProofTexts } from '../../../texts/en/proof.ts'
import { shortHash } from './verdict.ts'

type Trusts = ProofTexts['trusts']

/** In the order of the verifier's list. */
const patterns: readonly (readonly [
  pattern: RegExp,
  words: (texts: Trusts, found: RegExpExecArray) => string,
])[] = [
  [/^the time of the block: chain /, ({ demonstration }) => demonstration],
  [/^that the node at \S+ tells the truth about the transaction$/, (t) => t.nodeTransaction],
  [/^that 0x\w+ is the hash of block (\d+) of chain /, (t, [, block = '']) => t.block(block)],
  [/^that the node at \S+ tells the truth about block /, (t) => t.nodeBlock],
  [/^that contract \S+ on chain \d+ is the one of the network$/, (t) => t.contract],
  [/^that contract \S+ has the code of version 2/, (t) => t.code],
  [/^that no other contract of the network /, (t) => t.range],
  [/^that contract \S+ began where the network file says/, (t) => t.begin],
  [/^what is before the beginning of contract /, (t) => t.beforeBegin],
  [/^that the sensor measured what it sent/, (t) => t.measured],
  [/^that the index \(aqi\) is that of these values/, (t) => t.index],
  [/^that no other reading has the same number, and that batch /, (t) => t.complete],
  [/^that the sensor has no second reading of the same time/, (t) => t.second],
  [/^that the sensor sent it: it is not signed/, (t) => t.unsigned],
  [/^that the \w+ key \S+ is that of sensor /, (t) => t.key],
  [/^that the \w+ key \S+ signed it, and is that of sensor /, (t) => t.signatureUnchecked],
  [/^that the values without a name are those that were signed/, (t) => t.laterValues],
  [/^that nothing which was signed as /, (t) => t.strange],
  [
    /^for "not before": that (0x\w+) is the hash of a block /,
    (t, [, hash = '']) => t.notBefore(shortHash(hash)),
  ],
]

/** @returns undefined where this page has no words for the statement */
export function trustInWords(trust: string, texts: Trusts): string | undefined {
  for (const [pattern, words] of patterns) {
    const found = pattern.exec(trust)
    if (found !== null) return words(texts, found)
  }
  return undefined
}

/**
 * Why a file is not valid, as a sentence.
 * @param check the one that failed
 * @param isNetworkFile it is the file that names a network: the two are easily mixed up
 */
export function whyInvalid(
  check: { readonly name: string; readonly why: string } | undefined,
  texts: ProofTexts['invalid'],
  isNetworkFile: boolean,
): string {
  if (check === undefined) return texts.format
  const { name, why } = check
  if (name === 'format') {
    if (why.startsWith('its format is airproof.proof.v')) return texts.newer
    if (why.startsWith('not JSON')) return texts.notJson
    if (isNetworkFile) return texts.network
    if (why.startsWith('larger than')) return texts.tooLarge
  }
  const sentences: Readonly<Record<string, string>> = texts
  return sentences[name] ?? texts.format
}
