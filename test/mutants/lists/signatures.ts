import type { Mutant } from '../mutant.ts'

/** Each check of a device's signature, taken out. */
const checks: readonly Omit<Mutant, 'tests'>[] = [
  {
    name: 'the other s of a signature is taken too',
    file: 'core/air/device-signature.ts',
    text: 'p256: order.p256 / 2n',
    becomes: 'p256: order.p256 - 1n',
  },
  {
    name: 'base64 has more than one text',
    file: 'core/air/device-signature.ts',
    text: " && bytes.toString('base64') === text",
    becomes: '',
  },
  {
    name: 'a signed text does not say whose it is',
    file: 'core/air/device-text.ts',
    text: '    sensor,\n    String(timeMs)',
    becomes: "    sensor && '',\n    String(timeMs)",
  },
  {
    name: 'values are signed in the order in which they were sent',
    file: 'core/air/device-text.ts',
    text: '(a < b ? -1 : 1)',
    becomes: '(a === b ? 1 : 0)',
  },
  {
    name: 'a key is valid before its time',
    file: 'pipeline/decide/check-signatures.ts',
    text: 'if (timeMs < fromMs)',
    becomes: 'if (timeMs < fromMs && timeMs < 0)',
  },
  {
    name: 'a key is valid at its end',
    file: 'pipeline/decide/check-signatures.ts',
    text: 'timeMs >= untilMs',
    becomes: 'timeMs > untilMs',
  },
  {
    name: 'nobody has to sign',
    file: 'pipeline/decide/judge.ts',
    text: 'return mustSign ?',
    becomes: 'return mustSign && false ?',
  },
  {
    name: 'signatures are checked from the beginning',
    file: 'pipeline/batches.ts',
    text: 'current() >= leaf2Level',
    becomes: 'current() >= leaf2Level - 1',
  },
  {
    name: 'the hash of a device does not name the algorithm',
    file: 'core/proof/device-hash.ts',
    text: 'signatureAlgorithms[algorithm]',
    becomes: 'signatureAlgorithms[algorithm] * 0',
  },
  {
    name: 'a key of small order is a key',
    file: 'core/air/ed25519-key.ts',
    text: ' || smallOrder.has(y)',
    becomes: ' || (smallOrder.has(y) && y > p)',
  },
  {
    name: 'a private key is read as a public one',
    file: 'runtime/device-key.ts',
    text: '/PRIVATE KEY/',
    becomes: '/PRIVATE KEYS/',
  },
]

export const signatureMutants: readonly Mutant[] = checks.map((mutant) => ({
  ...mutant,
  tests: ['check-signatures', 'device-key'],
}))
