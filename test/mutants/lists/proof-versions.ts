import type { Mutant, RowMutants } from '../mutant.ts'

const tests = ['proof-versions']
const nothing = (): string => ''
const verifier = 'anchor/verifier/airproof-verify.js'
const python = 'examples/verify-python/verify.py'

export const proofVersionMutants: readonly (Mutant | RowMutants)[] = [
  {
    name: 'a field of the header is out',
    file: 'core/proof/header.ts',
    rows: /^ {6}\['[\w[\]]+', '(\w+)'\],\n/gm,
    becomes: nothing,
    least: 12,
    tests: ['header'],
  },
  {
    name: 'the version of a header is another',
    file: 'core/proof/header.ts',
    rows: /(?<=^ {4})version: (\d+)/gm,
    becomes: (_row, [version]) => `version: ${Number(version) + 7}`,
    least: 1,
    tests: ['header'],
  },
  {
    name: 'a value is in the word of the next one',
    file: 'core/proof/leaf.ts',
    rows: /\b(type|sensor|timeMs|seq|present|values): (\d)(?=[, ])/g,
    becomes: (_row, [name, at]) => `${name}: ${Number(at) + 1}`,
    least: 6,
    tests: ['leaf'],
  },
  {
    name: 'the leaf type has another name',
    file: 'core/proof/leaf.ts',
    text: 'airproof.reading.v${version}(',
    becomes: 'airproof.reading.v0${version}(',
    tests: ['leaf'],
  },
  {
    name: 'a presence bit is another',
    file: 'core/proof/leaf.ts',
    rows: /1 << (i|leafNow\.values\.length)/g,
    becomes: (_row, [place]) => `1 << (${place} + 1)`,
    least: 2,
    tests: ['leaf'],
  },
  {
    name: 'a bundle has another format',
    file: 'core/proof/bundle.ts',
    rows: /'airproof\.proof\.v(\d+)'/g,
    becomes: (_row, [version]) => `'airproof.proof.v${Number(version) + 7}'`,
    least: 1,
    tests,
  },
  {
    name: 'an export has another format',
    file: 'cli/export/export-manifest.ts',
    rows: /'airproof\.export\.v(\d+)'/g,
    becomes: (_row, [version]) => `'airproof.export.v${Number(version) + 7}'`,
    least: 1,
    tests,
  },
  {
    name: 'a newer export is not named as one',
    file: 'cli/export/export-manifest.ts',
    text: '    refuseOther(value)\n',
    becomes: '    void refuseOther\n',
    tests,
  },
  {
    name: 'the verifier does not know a bundle',
    file: verifier,
    rows: /'airproof\.proof\.v(\d+)'/g,
    becomes: (_row, [version]) => `'airproof.proof.v${Number(version) + 7}'`,
    least: 1,
    tests,
  },
  {
    name: 'the verifier lacks a value of the leaf',
    file: verifier,
    text: "'co2', 'temperature', 'humidity']]])",
    becomes: "'co2', 'humidity']]])",
    tests,
  },
  {
    name: 'the verifier knows one bundle too many',
    file: verifier,
    text: "[['airproof.proof.v1', { leaf: 1, header: 1 }]]",
    becomes:
      "[['airproof.proof.v1', { leaf: 1, header: 1 }], ['airproof.proof.v2', { leaf: 1, header: 1 }]]",
    tests,
  },
  {
    name: 'the verifier lacks a field of the header',
    file: verifier,
    rows: /(?<=^ {4}'.*)\b(?:uint64|bytes32)(?:\[\])? (\w+),/gm,
    becomes: nothing,
    least: 11,
    tests,
  },
  {
    name: 'the Python verifier does not know a bundle',
    file: python,
    rows: /'airproof\.proof\.v(\d+)': \(/g,
    becomes: (_row, [version]) => `'airproof.proof.v${Number(version) + 7}': (`,
    least: 1,
    tests,
  },
  {
    name: 'a version is not on the page of proofs',
    file: 'docs/proofs.md',
    rows: /^\| `(airproof\.\w+\.v\d+)` \| \d+ \| \d+ \|\n/gm,
    becomes: nothing,
    least: 2,
    tests,
  },
]
