/** The example for MicroPython that signs, on MicroPython, and what it signs at a running gate and pipeline. */
import { createECDH, createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { isSignedBy, openKey, readPublicKey } from '../../runtime/device-key.ts'
import type { SensorEntry } from '../../schemas/devices/sensor.ts'
import { eventually } from '../support/eventually.ts'
import { type MicroPython, startMicroPython } from '../support/micropython.ts'
import { testPipeline } from '../support/pipeline.ts'
import { testPush } from '../support/push.ts'
import { missing, startExample } from '../support/sensor-examples.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const hexOf = (number: bigint): string => number.toString(16).padStart(64, '0')
const folder = fileURLToPath(new URL('../../examples/sensors/micropython/', import.meta.url))

let board: MicroPython
beforeAll(async () => {
  board = await startMicroPython(folder)
  board.run('import binascii, p256, signed')
})

const octets = (hex: string): string => `bytes.fromhex("${hex}")`
const publicKeyOf = (privateKey: string): string =>
  board.evaluate<string>(`p256.public_key(${octets(privateKey)}).hex()`)
const signatureOf = (privateKey: string, text: string): string =>
  board.evaluate<string>(`p256.sign(${octets(privateKey)}, b"${text}").hex()`)

test('the program runs on MicroPython', () => {
  expect(board.evaluate<string>('sys.implementation.name')).toBe('micropython')
})

describe('RFC 6979, A.2.5: P-256 with SHA-256', () => {
  const privateKey = 'c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721'
  const x = '60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6'
  const y = '7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299'
  const vectors = [
    {
      text: 'sample',
      r: 0xefd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716n,
      s: 0xf7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8n,
    },
    {
      text: 'test',
      r: 0xf1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367n,
      s: 0x019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083n,
    },
  ] as const

  test('the public key is the compressed point', () => {
    const isOdd = Number.parseInt(y.slice(-1), 16) & 1
    expect(publicKeyOf(privateKey)).toBe(`0${2 + isOdd}${x}`)
  })

  test.each(vectors)('"$text" has this signature, with the lower s', ({ text, r, s }) => {
    const lower = s > order / 2n ? order - s : s
    expect(signatureOf(privateKey, text)).toBe(hexOf(r) + hexOf(lower))
  })
})

const drawn = Array.from({ length: 8 }, (_, i) =>
  createHash('sha256').update(`key ${i}`).digest('hex'),
)
const edges = [1n, 2n, 3n, 4n, 5n, order - 2n, order - 1n, 2n ** 255n, 2n ** 256n - order].map(
  hexOf,
)
test.each([...edges, ...drawn])(
  'the public key of %s is the one that Node has, and its signature is right',
  async (privateKey) => {
    const node = createECDH('prime256v1')
    node.setPrivateKey(privateKey, 'hex')
    const publicKey = publicKeyOf(privateKey)
    expect(publicKey).toBe(node.getPublicKey('hex', 'compressed'))

    const signature = signatureOf(privateKey, privateKey)
    expect(BigInt(`0x${signature.slice(64)}`) <= order / 2n).toBe(true)
    const known = readPublicKey(Buffer.from(publicKey, 'hex').toString('base64'))
    if (typeof known === 'string') throw new Error(known)
    const isGood = (text: string): Promise<boolean> =>
      isSignedBy(known, openKey(known)!, text, Buffer.from(signature, 'hex'))
    expect([await isGood(privateKey), await isGood(`${privateKey}.`)]).toEqual([true, false])
  },
)

/** Random numbers come one by one from `random`, as hex. */
const privateKeyFrom = (...random: readonly string[]): string => {
  board.run(`random = ${JSON.stringify(random)}`)
  return board.evaluate<string>('signed.private_key(lambda _: bytes.fromhex(random.pop(0))).hex()')
}

test('a private key is made once, and is one that P-256 has', () => {
  board.run('signed.KEY_FILE = "/made-once.key"')
  const first = randomBytes(31).toString('hex').padStart(64, '0')
  expect(privateKeyFrom(hexOf(0n), hexOf(order), hexOf(2n ** 256n - 1n), first)).toBe(first)
  expect(privateKeyFrom(hexOf(1n))).toBe(first)
})

test('a board that counts the seconds from 2000 signs and sends the same', () => {
  board.run(`
import time
class From2000:
    gmtime = staticmethod(lambda seconds: time.gmtime(seconds + 946684800))
del sys.modules["signed"]
sys.modules["time"] = From2000
import signed as signed_from_2000
sys.modules["time"] = time`)
  const bodyOf = (program: string, at: number): unknown =>
    JSON.parse(
      board.evaluate<string>(`${program}.signed_body(bytes([1] * 32), ${at}, {"pm25": 45.3})`),
    )
  const at = Date.UTC(2026, 0, 31, 5, 5) / 1_000
  const body = bodyOf('signed', at)
  expect(body).toMatchObject({ timestamp: '2026-01-31T05:05:00Z', pm25: 45.3 })
  expect(bodyOf('signed_from_2000', at - Date.UTC(2000) / 1_000)).toEqual(body)
})

test('what a board signs is accepted with its signature; with one other bit it is refused', async () => {
  await using pipeline = await testPipeline()
  await using push = await testPush({ nats: pipeline.nats })
  const id = 'NGR-LOS-SIG-011'
  board.run(`signed.SENSOR, signed.KEY_FILE = "${id}", "/sensor.key"`)
  const privateKey = privateKeyFrom(randomBytes(31).toString('hex').padStart(64, '0'))
  board.run(`key = ${octets(privateKey)}`)
  const publicKey = board.evaluate<string>('signed.base64(p256.public_key(key))')
  const caller = await push.sensor(id, requiring(publicKey))
  const at = Math.floor(Date.now() / 1_000) - 60
  const body = (i: number): string =>
    board.evaluate<string>(
      `signed.signed_body(key, ${at + i}, {"pm25": 45.3, "pm10": 78.2, "temperature": 28.4})`,
    )
  const flipped = body(2).replace(
    /"sig": "(.*)"/,
    (_, sig: string) => `"sig": "${flip(Buffer.from(sig, 'base64')).toString('base64')}"`,
  )
  for (const sent of [body(0), body(1), flipped, body(3).replace('45.3', '45.2')])
    expect(await push.post('/push/readings', sent, caller)).toMatchObject({
      status: 202,
      body: { stored: 1 },
    })

  const { accepted, refused } = await pipeline.outcomeOf(id)
  expect(refused.map(({ reason }) => reason)).toEqual(['bad_signature', 'bad_signature'])
  const lines = ['pm10=78.2', 'pm25=45.3', 'temperature=28.4']
  expect(accepted).toMatchObject(
    [at, at + 1].map((seconds) => ({
      timeMs: seconds * 1_000,
      values: [4530, 7820, null, 2840, null],
      signed: {
        algorithm: 'p256',
        publicKey,
        text: ['airproof.device.v1', id, seconds * 1_000, ...lines].join('\n'),
      },
    })),
  )
})

const requiring = (publicKey: string): Partial<SensorEntry> => ({
  keys: [{ algorithm: 'p256', public_key: publicKey, from: '2026-01-01T00:00:00Z' }],
  signature: 'required',
})

const flip = (bytes: Buffer): Buffer => {
  bytes[40]! ^= 1
  return bytes
}

const program = 'micropython/signed.py'
test.skipIf(missing(program) !== undefined)(
  `the whole program, on CPython, makes a key, and its signed reading is accepted${missing(program) ?? ''}`,
  async () => {
    using files = temporaryFolder()
    await using pipeline = await testPipeline()
    await using push = await testPush({ nats: pipeline.nats })
    const id = 'NGR-LOS-SIG-012'
    const KEY_FILE = join(files.path, 'sensor.key')
    const settings = { KEY_FILE, SENSOR_ID: id, SENSOR_KEY: 'none', PUSH_URL: push.url }
    const printed = async (wanted: RegExp, more: Readonly<Record<string, string>> = {}) => {
      await using run = await startExample(program, { ...settings, ...more })
      return await eventually(`it prints ${wanted.source}`, () => {
        if (!run.isAlive()) throw new Error(`it ended: ${run.printed.join('\n')}`)
        return run.printed.some((line) => wanted.test(line)) && run.printed.join('\n')
      })
    }
    const first = await printed(/^not stored: 401$/)
    const [, publicKey = ''] = /^public key: (.*)$/m.exec(first) ?? []
    const { secret } = await push.sensor(id, requiring(publicKey))
    const second = await printed(/^stored$/, { SENSOR_KEY: secret })
    expect(second).toBe(`public key: ${publicKey}\nstored`)

    const { accepted, refused } = await pipeline.outcomeOf(id)
    expect(refused).toEqual([])
    expect(accepted).toMatchObject([
      { values: [4530, 7820, null, 2840, null], signed: { algorithm: 'p256', publicKey } },
    ])
  },
)
