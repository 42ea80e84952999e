import type { Mutant, RowMutants } from '../mutant.ts'

const model = 'core/air/correction-model.ts'
const models = 'core/air/correction-models.json'
const tests = ['correction-model']

/** Each number of a shipped correction, and each rule by which one is applied. */
export const correctionMutants: readonly (Mutant | RowMutants)[] = [
  {
    name: 'a coefficient is another',
    file: models,
    rows: /(?<=^ +\{ "times": )-?[\d.e-]+/gm,
    becomes: (times) => `${Number(times) * 1.01}`,
    least: 19,
    tests,
  },
  {
    name: 'a power is another',
    file: models,
    rows: /(?<=^ +\{ "times": [^,\n]+, "\w+": )\d/gm,
    becomes: (power) => `${Number(power) + 1}`,
    least: 14,
    tests,
  },
  {
    name: 'a coefficient of a model in one piece is another',
    file: models,
    rows: /(?<="terms": \[.*"times": )(-?[\d.]+)/g,
    becomes: (times) => `${Number(times) * 1.01}`,
    least: 3,
    tests,
  },
  {
    name: 'a piece ends elsewhere',
    file: models,
    rows: /(?<="below": )\d+/g,
    becomes: (below) => `${Number(below) + 10}`,
    least: 4,
    tests,
  },
  {
    name: 'an end of a range does not belong to it',
    file: model,
    rows: /value [<>] (low|high)/g,
    becomes: (row) => row.replace(/([<>])/, '$1='),
    least: 2,
    tests,
  },
  {
    name: 'a piece has its upper end',
    file: model,
    text: 'raw < below',
    becomes: 'raw <= below',
    tests,
  },
  {
    name: 'a corrected value is below 0',
    file: model,
    text: 'Math.max(0, sum)',
    becomes: 'sum',
    tests,
  },
  {
    name: 'the kind of a device is compared letter by letter',
    file: model,
    rows: /(kind|one)\.toLowerCase\(\)/g,
    becomes: (_row, [what]) => `${what}`,
    least: 2,
    tests,
  },
  {
    name: 'a device that is not known is of no kind',
    file: model,
    text: 'kinds === undefined || kind === undefined) return true',
    becomes: 'kinds === undefined) return true\n  if (kind === undefined) return false',
    tests,
  },
  {
    name: 'a model is for every device',
    file: model,
    text: 'isOfKind(model, kind) ? correctionOf(model)(values) : null',
    becomes: 'correctionOf(model)(values)',
    tests,
  },
  {
    name: 'a model does not say what it reads',
    file: model,
    rows: /^ {4}(model\.of|\.\.\.namesOf\(model\.range\)|\.\.\.model\.pieces\.flatMap.*),\n/gm,
    becomes: () => '',
    least: 3,
    tests,
  },
]
