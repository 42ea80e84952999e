import { from, lastValueFrom } from 'rxjs'
import { describe, expect, test } from 'vitest'
import { partitionOf, sensorIdRules } from '../../core/air/sensor-id.ts'
import { hourMs } from '../../core/time.ts'
import { judgeBatches } from '../../pipeline/batches.ts'
import { createCheckSignature } from '../../pipeline/decide/check-signatures.ts'
import type { Believed } from '../../pipeline/decide/judge.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { entryFault, parseSensor } from '../../schemas/devices/registered-sensor.ts'
import type { SensorEntry, SensorKey } from '../../schemas/devices/sensor.ts'
import type { FormatLevel } from '../../schemas/format-level.ts'
import type { RawFault } from '../../schemas/log/raw-reading.ts'
import {
  createSigner,
  otherS,
  type Signer,
  signedBody,
  type Texts,
  textOf,
} from '../support/device-signer.ts'

const sensor = 'NGR-LOS-IKJ-017'
const timeMs = Date.UTC(2026, 0, 15, 10, 30)
const values: Texts = [
  ['humidity', '72.1'],
  ['pm10', '7.82e1'],
  ['pm25', '45.30'],
]
const rules = sensorIdRules()
const keccak = await createKeccak()
const checkSignature = createCheckSignature(keccak)
const ed25519 = createSigner('ed25519')
const p256 = createSigner('p256')
const signers = [ed25519, p256]

const keyOf = (
  { algorithm, publicKey }: Signer,
  from_ = '2026-01-01T00:00:00Z',
  until?: string,
): SensorKey => ({
  algorithm,
  public_key: publicKey,
  from: from_,
  ...(until === undefined ? {} : { until }),
})
const entry = (more: Partial<SensorEntry>): SensorEntry => ({
  id: sensor,
  cadence_seconds: 300,
  created_at: '2020-01-01T00:00:00Z',
  sites: [{ from: '2020-01-01T00:00:00Z', area: 'Ikeja', lat: 6.6, lon: 3.35, address: 'GRA' }],
  ...more,
})

type Setting = {
  readonly keys?: SensorKey[]
  readonly signature?: 'required' | 'optional'
  readonly level?: FormatLevel
  readonly arrivedMs?: number
  /** A gateway; absent: the sensor itself. */
  readonly sender?: string
  /** What the registry holds once it has caught up. */
  readonly caughtUp?: Partial<SensorEntry>
}

/** What the pipeline makes of the items of raw messages. */
async function verdictsOn(
  bodies: readonly string[],
  { level = 3, arrivedMs = timeMs, sender = sensor, caughtUp, ...of }: Setting,
): Promise<readonly (Believed | RawFault)[]> {
  let registered = parseSensor(entry(of), rules)
  const batch = bodies.map((body, seq) => ({
    seq: seq + 1,
    sensor: sender,
    arrivedMs,
    isAgain: false,
    data: new TextEncoder().encode(body),
  }))
  const options = {
    partition: partitionOf(sensor),
    sensorOf: () => registered,
    earliestMs: 0,
    mayBeLate: () => true,
    level: { current: () => level },
    registryBarrier: async () => {
      registered = parseSensor(entry(caughtUp ?? of), rules)
    },
    checkSignature,
  }
  const { messages } = await lastValueFrom(from([batch]).pipe(judgeBatches(options)))
  return messages.flatMap(({ items }) => items)
}

const verdictOn = async (body: string, of: Setting): Promise<Believed | RawFault> =>
  (await verdictsOn([body], of))[0]!

async function whyNot(body: string, of: Setting): Promise<string> {
  const verdict = await verdictOn(body, of)
  if (!('reason' in verdict)) return 'accepted'
  return verdict.reason === 'bad_signature' ? verdict.why : verdict.reason
}

describe.each(signers)('a reading signed with $algorithm', (signer) => {
  const keys = [keyOf(signer)]

  test('is accepted, with the key, the signature, the text and their hash', async () => {
    const body = signedBody(signer, { sensor, timeMs, values })
    const verdict = await verdictOn(body, { keys, signature: 'required' })
    const { sig } = JSON.parse(body) as { sig: string }
    const alg = { ed25519: '01', p256: '02' }[signer.algorithm]
    const hashed = [Buffer.from(signer.publicKey, 'base64'), Buffer.from(sig, 'base64')]
    expect(verdict).toMatchObject({
      values: [4530, 7820, null, null, 7210],
      signed: {
        algorithm: signer.algorithm,
        publicKey: signer.publicKey,
        signature: sig,
        text: textOf(sensor, timeMs, values),
      },
      device: `0x${Buffer.from(keccak(Buffer.concat([Buffer.from(alg, 'hex'), ...hashed]))).toString('hex')}`,
    })
  })

  test('of another sensor, of another time, with another value or by another key is refused', async () => {
    const signed = (of: Partial<{ sensor: string; timeMs: number; values: Texts }>): string => {
      const text = textOf(of.sensor ?? sensor, of.timeMs ?? timeMs, of.values ?? values)
      const sig = signer.sign(text).toString('base64')
      return JSON.stringify({
        ...JSON.parse(signedBody(signer, { sensor, timeMs, values })),
        sig,
      }).replace(
        '"humidity":72.1,"pm10":78.2,"pm25":45.3',
        '"humidity":72.1,"pm10":7.82e1,"pm25":45.30',
      )
    }
    expect(await whyNot(signed({}), { keys })).toBe('accepted')
    const nobodys = /^no key of the sensor signed the text "airproof\.device\.v1/
    expect(await whyNot(signed({ sensor: 'NGR-LOS-IKJ-018' }), { keys })).toMatch(nobodys)
    expect(await whyNot(signed({ timeMs: timeMs + 1 }), { keys })).toMatch(nobodys)
    expect(await whyNot(signed({ values: values.slice(1) }), { keys })).toMatch(nobodys)
    const others = [keyOf(createSigner(signer.algorithm))]
    expect(await whyNot(signed({}), { keys: others })).toMatch(nobodys)
  })

  test('counts by its own time, not by that of its arrival: a key that was replaced since is right', async () => {
    const next = createSigner('ed25519')
    const rotated = [
      keyOf(signer, '2026-01-01T00:00:00Z', '2026-01-15T12:00:00Z'),
      keyOf(next, '2026-01-15T11:00:00Z'),
    ]
    const at = (by: Signer, hour: number): Promise<string> => {
      const body = signedBody(by, { sensor, timeMs: Date.UTC(2026, 0, 15, hour), values })
      return whyNot(body, { keys: rotated, arrivedMs: Date.UTC(2026, 0, 16) })
    }
    expect(await at(signer, 10)).toBe('accepted')
    expect(await at(signer, 11)).toBe('accepted')
    expect(await at(next, 11)).toBe('accepted')
    expect(await at(signer, 12)).toBe('the key that signed it was valid until 2026-01-15T12:00:00Z')
    expect(await at(next, 10)).toBe('the key that signed it is valid from 2026-01-15T11:00:00Z')
  })
})

test('with P-256, the other s of the same signature is refused', async () => {
  const keys = [keyOf(p256)]
  const high = { sign: (text: string) => otherS(p256.sign(text)) }
  const body = (by: Pick<Signer, 'sign'>) => signedBody(by, { sensor, timeMs, values })
  expect(await whyNot(body(p256), { keys })).toBe('accepted')
  expect(await whyNot(body(high), { keys })).toMatch(/^its s is above half of the order/)
})

test('a clock that runs ahead is not taken for a wrong key: the reason is the time', async () => {
  const body = signedBody(ed25519, { sensor, timeMs: timeMs + hourMs, values })
  expect(await whyNot(body, { keys: [keyOf(ed25519)] })).toBe('future')
})

test('what is signed is every number under a plain name, as it was sent; null, texts and other names are not', async () => {
  const texts: Texts = [
    ['battery', '3.710'],
    ['co2', '-0'],
    ['pm25', '1E1'],
  ]
  const sig = ed25519.sign(textOf(sensor, timeMs, texts)).toString('base64')
  const body = (
    pm25: string,
  ) => `[{"timestamp":"2026-01-15T11:30:00.0009+01:00","pm25":7,"battery":3.710,"co2":5,
    "name with space":1,"noise":"60","pm10":null,"time_assigned":true,"sig":"${sig}",
    "measurements":{"pm25":${pm25},"co2":-0,"pm10":null}}]`
  expect(await verdictOn(body('1E1'), { keys: [keyOf(ed25519)] })).toMatchObject({
    values: [1000, null, 0, null, null],
    timeMs,
  })
  expect(await whyNot(body('10'), { keys: [keyOf(ed25519)] })).toMatch(/^no key/)
})

test('a signature that is none, no value, too many and too long ones are refused in words', async () => {
  const keys = [keyOf(ed25519)]
  const at = '"timestamp":"2026-01-15T10:30:00Z"'
  const sig = Buffer.alloc(64).toString('base64')
  for (const wrong of [
    '5',
    '""',
    '"AAAA"',
    `"${sig.slice(0, -2)}"`,
    `"${sig.replace('A==', 'B==')}"`,
  ])
    expect(await whyNot(`{${at},"pm25":1,"sig":${wrong}}`, { keys })).toMatch(
      /^sig must be 64 bytes/,
    )
  expect(await whyNot(`{${at},"sig":"${sig}"}`, { keys })).toMatch(/it has no value$/)
  const many = Array.from({ length: 65 }, (_, i) => `"v${i}":${i}`).join(',')
  expect(await whyNot(`{${at},${many},"sig":"${sig}"}`, { keys })).toMatch(/more than 64 values$/)
  const long = `1.${'0'.repeat(31)}`
  expect(await whyNot(`{${at},"pm25":${long},"sig":"${sig}"}`, { keys })).toMatch(/pm25 has more/)
})

test('a sensor that must sign is refused without, one that may is not; without a key no signature counts', async () => {
  const unsigned = '{"timestamp":"2026-01-15T10:30:00Z","pm25":1}'
  const signed = signedBody(ed25519, { sensor, timeMs, values })
  const keys = [keyOf(ed25519)]
  expect(await whyNot(unsigned, { keys, signature: 'required' })).toMatch(/^it has no sig/)
  expect(await whyNot(unsigned.replace('}', ',"sig":null}'), { keys })).toBe('accepted')
  expect(await whyNot(unsigned, { keys, signature: 'optional' })).toBe('accepted')
  expect(await whyNot(signed, {})).toBe('the registry has no public key of the sensor')
})

test('below format level 3 a signature is ignored, whatever it is', async () => {
  const body = '{"timestamp":"2026-01-15T10:30:00Z","pm25":1,"sig":5}'
  const verdict = await verdictOn(body, { keys: [keyOf(ed25519)], signature: 'required', level: 2 })
  expect(verdict).toMatchObject({ values: [100, null, null, null, null] })
  expect(verdict).not.toHaveProperty('device')
})

test('signed and unsigned readings keep their order, and a bad one costs no other', async () => {
  const at = (i: number) => timeMs + i * 1_000
  const bodies = Array.from({ length: 60 }, (_, i) =>
    i % 3 === 0
      ? `{"timestamp":"${new Date(at(i)).toISOString()}","pm25":1}`
      : signedBody(i % 3 === 1 ? ed25519 : p256, { sensor, timeMs: at(i), values }),
  )
  const verdicts = await verdictsOn([`[${bodies.slice(0, 30).join(',')}]`, ...bodies.slice(30)], {
    keys: [keyOf(ed25519)],
  })
  expect(
    verdicts.map((verdict) => ('reason' in verdict ? verdict.reason : verdict.timeMs)),
  ).toEqual(bodies.map((_, i) => (i % 3 === 2 ? 'bad_signature' : at(i))))
})

test('a gateway’s body is looked through for signatures, however the field is written', async () => {
  const signed = signedBody(ed25519, { sensor, timeMs, values }).replace(
    '{',
    `{"sensor_id":"${sensor}",`,
  )
  const unsigned = `{"sensor_id":"${sensor}","timestamp":"2026-01-15T10:30:01Z","pm25":1}`
  const of: Setting = { keys: [keyOf(ed25519)], signature: 'required', sender: 'hub' }
  const required = 'it has no sig, and the registry requires one'
  for (const name of ['"sig"', String.raw`"\u0073ig"`]) {
    const body = signed.replace('"sig"', name)
    const verdicts = await verdictsOn([`[${body},${unsigned}]`, `[${unsigned}]`], of)
    expect(verdicts).toMatchObject([{ timeMs }, { why: required }, { why: required }])
  }
})

test('an entry refuses keys that are none, and a signature that nothing could check', () => {
  const fault = (more: Partial<SensorEntry>) => entryFault(entry(more), rules)
  const key = keyOf(ed25519)
  expect(fault({ keys: [key], signature: 'required' })).toBeUndefined()
  expect(fault({ signature: 'required' })).toMatch(/no public key to check it with$/)
  expect(fault({ keys: [{ ...key, public_key: p256.publicKey }] })).toMatch(/is 32 bytes in base64/)
  expect(fault({ keys: [{ ...key, algorithm: 'p256' }] })).toMatch(/is 33 bytes in base64/)
  expect(fault({ keys: [{ ...key, from: '2026-01-01' }] })).toMatch(/"from" is not an ISO time/)
  expect(fault({ keys: [{ ...key, until: '2025-01-01T00:00:00Z' }] })).toMatch(/before it begins$/)
  expect(fault({ keys: Array.from({ length: 9 }, () => key) })).toMatch(/keys/)
})

test('before a signature is called bad the registry must have caught up, with a first key or with another', async () => {
  const keys = [keyOf(ed25519)]
  const bodies = [
    signedBody(ed25519, { sensor, timeMs, values }),
    '{"timestamp":"2026-01-15T10:30:01Z","pm25":1}',
    signedBody(createSigner('p256'), { sensor, timeMs: timeMs + 2_000, values }),
  ]
  for (const before of [{}, { keys: [keyOf(p256)] }]) {
    const verdicts = await verdictsOn(bodies, { ...before, caughtUp: { keys } })
    expect(verdicts.map((verdict) => ('reason' in verdict ? verdict.reason : 'believed'))).toEqual([
      'believed',
      'believed',
      'bad_signature',
    ])
  }
})
