import type { Mutant, RowMutants } from '../mutant.ts'

const entries = 'runtime/nats/buckets/packed-entries.ts'
const image = 'runtime/nats/buckets/bucket-image.ts'
const tests = ['packed-entries']

/** The entries of a bucket as bytes, and each sign that an image of them is not to be used. */
export const imageMutants: readonly (Mutant | RowMutants)[] = [
  {
    name: 'a word of a record is lost',
    file: entries,
    rows: /^ {4}words\[at \+ (\d)\] = (?:name|packed|revision|timeMs|Math).*\n/gm,
    becomes: () => '',
    least: 6,
    tests,
  },
  {
    name: 'the high word of a number is not read',
    file: entries,
    rows: /\(words\[at \+ (4|6)\] \?\? 0\) \* low/g,
    becomes: () => '0',
    least: 2,
    tests,
  },
  {
    name: 'a former entry counts',
    file: entries,
    text: "    if (former !== -1 && this.kindOf(row) === 'fine') this.#fine--\n",
    becomes: '',
    tests,
  },
  {
    name: 'a former entry comes back when its block is emptied',
    file: entries,
    text: '      if (this.#places[row] !== index * blockWords + at) continue\n',
    becomes: '',
    tests,
  },
  {
    name: 'a block of former entries stays',
    file: entries,
    rows: /^ {4,6}if \((index !== this\.#tail|full !== undefined) && isMostlyDead.*\n/gm,
    becomes: () => '',
    least: 2,
    tests,
  },
  {
    name: 'a key that begins like another one is that one',
    file: entries,
    text: '    if (keyLengthAt(block.words, at) !== length) return false\n',
    becomes: '',
    tests,
  },
  {
    name: 'bytes that are no records are taken',
    file: entries,
    rows: /(?<=if \()(?:(records)\.length % 4 !== 0|(kind)At\(words, at\) === undefined \|\| )|(at) \+ length > words\.length \|\| /g,
    becomes: (row) => (row.endsWith('|| ') ? '' : 'Date.now() < 0'),
    least: 3,
    tests,
  },
  {
    name: 'a shape that the image does not have is taken',
    file: entries,
    text: ' || shapeAt(words, at) > this.#shapes.size',
    becomes: '',
    tests,
  },
  {
    name: 'a name with escapes is not found',
    file: entries,
    text: ' || text.includes(escape)',
    becomes: '',
    tests,
  },
  {
    name: 'a percent sign of a key is taken for an escape',
    file: entries,
    text: ' || code === percent',
    becomes: '',
    tests,
  },
  {
    name: 'an image is used although it does not fit',
    file: image,
    rows: /(?<=^ +if \()(?!stored)[^\n]+(?=\)\s+throw new NoImage\()/gm,
    becomes: (condition) => `Date.now() < 0 && (${condition})`,
    least: 6,
    tests: ['stack/bucket-image'],
  },
]
