/**
 * Whether the device of a sensor signed what arrived as its reading: asked before the reading is judged,
 * and computed in libuv's pool, so that the main loop goes on.
 */
import type { KeyObject } from 'node:crypto'
import {
  bytesOfBase64,
  type DeviceSignature,
  hasLowS,
  signatureBytes,
} from '../../core/air/device-signature.ts'
import { deviceText, signedValues } from '../../core/air/device-text.ts'
import type { Hex } from '../../core/hex.ts'
import { formatIso, parseIso } from '../../core/iso-time.ts'
import { deviceHash } from '../../core/proof/device-hash.ts'
import type { Keccak } from '../../core/proof/leaf.ts'
import { isSignedBy, openKey } from '../../runtime/device-key.ts'
import { inParallel } from '../../runtime/in-parallel.ts'
import { isGateway } from '../../schemas/devices/application.ts'
import {
  isValidAt,
  type RegisteredKey,
  type RegisteredSensor,
} from '../../schemas/devices/registered-sensor.ts'
import { numberTexts } from '../../schemas/log/number-texts.ts'
import {
  decodeRaw,
  isFault,
  isRawReading,
  type RawFault,
  sensorNamed,
} from '../../schemas/log/raw-reading.ts'
import type { RawBatch } from '../intake/raw-message.ts'

export type Signed = { readonly device: Hex; readonly signed: DeviceSignature }
/** undefined: it will be refused for something else in any case. */
export type SignatureVerdict = Signed | RawFault | undefined

/** @param texts the same as `item`, with each number as its text */
export type CheckSignature = (
  item: unknown,
  texts: unknown,
  sensor: RegisteredSensor,
) => Promise<SignatureVerdict>

export function createCheckSignature(keccak: Keccak): CheckSignature {
  // as long as the registry holds the entry
  const opened = new WeakMap<RegisteredKey, KeyObject | 'unusable'>()
  const keyObject = (key: RegisteredKey): KeyObject | 'unusable' => {
    const known = opened.get(key) ?? openKey(key) ?? 'unusable'
    opened.set(key, known)
    return known
  }
  const isBy = (key: RegisteredKey, text: string, signature: Uint8Array): Promise<boolean> => {
    const object = keyObject(key)
    if (object === 'unusable') return Promise.resolve(false)
    return isSignedBy(key, object, text, signature)
  }

  return async (item, texts, sensor) => {
    if (!isRawReading(item) || !isObject(texts)) return undefined
    const time = parseIso(item.timestamp)
    if (!('timeMs' in time)) return undefined
    const { timeMs } = time
    const { keys = [] } = sensor
    const signature = bytesOfBase64(item.sig, signatureBytes)
    if (signature === undefined)
      return badSignature(`sig must be ${signatureBytes} bytes in base64 with its padding`)
    const values = signedValues(item, texts)
    if (typeof values === 'string') return badSignature(`it cannot be signed: ${values}`)
    const text = deviceText(sensor.id, timeMs, values)
    const isValid = (key: RegisteredKey): boolean => isValidAt(key, timeMs)
    // the newest first: during a rotation most devices have it
    const byUse = keys.toReversed().toSorted((a, b) => Number(isValid(b)) - Number(isValid(a)))
    let signer: RegisteredKey | undefined
    for (const key of byUse) {
      if (!(await isBy(key, text, signature))) continue
      signer = key
      break
    }
    if (signer === undefined)
      return badSignature(`no key of the sensor signed the text ${JSON.stringify(text)}`)
    const why = whyNotAt(signer, timeMs)
    if (why !== undefined) return badSignature(why)
    const { algorithm, publicKey } = signer
    if (!hasLowS(algorithm, signature))
      return badSignature('its s is above half of the order: send n - s in place of s')
    const signed = { algorithm, publicKey, signature: String(item.sig), text }
    return { signed, device: deviceHash(signed, keccak) }
  }
}

/** By the message's sequence in RAW and the place of the item. */
export type Signatures = ReadonlyMap<number, ReadonlyMap<number, SignatureVerdict>>

type Asked = {
  readonly sensorOf: (id: string) => RegisteredSensor | undefined
  readonly checkSignature: CheckSignature
}

/** Enough for the threads of libuv's pool; more would wait there in front of what else needs it. */
const mostUnderWay = 32

/** Asks only of sensors that have keys: of the others there is nothing to check with. */
export async function verdictsOn(
  batch: RawBatch,
  { sensorOf, checkSignature }: Asked,
): Promise<Signatures> {
  const verdicts = new Map<number, Map<number, SignatureVerdict>>()
  const questions: (() => Promise<void>)[] = []
  for (const { seq, sensor: id, data } of batch) {
    const isOfMany = isGateway(id)
    const own = isOfMany ? undefined : sensorOf(id)
    if (isOfMany ? !mayBeSigned(data) : own?.keys === undefined) continue
    const items = decodeRaw(data)
    if (isFault(items) || !items.some(isSigned)) continue
    const texts = [numberTexts(new TextDecoder().decode(data))].flat()
    const ofMessage = new Map<number, SignatureVerdict>()
    verdicts.set(seq, ofMessage)
    for (const [place, item] of items.entries()) {
      const sensor = isOfMany ? sensorOf(sensorNamed(item)) : own
      if (isSigned(item) && sensor?.keys !== undefined)
        questions.push(async () => {
          ofMessage.set(place, await checkSignature(item, texts[place], sensor))
        })
    }
  }
  await inParallel(questions, mostUnderWay, (ask) => ask())
  return verdicts
}

const isSigned = (item: unknown): boolean => isObject(item) && 'sig' in item

/** Whether a body may have the field: its name may also be written with escapes. */
const mayBeSigned = (body: Uint8Array): boolean => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  return bytes.includes('"sig"') || bytes.includes('\\u')
}

function whyNotAt({ fromMs, untilMs }: RegisteredKey, timeMs: number): string | undefined {
  if (timeMs < fromMs) return `the key that signed it is valid from ${formatIso(fromMs)}`
  if (untilMs !== undefined && timeMs >= untilMs)
    return `the key that signed it was valid until ${formatIso(untilMs)}`
  return undefined
}

export const badSignature = (why: string): RawFault => ({
  reason: 'bad_signature',
  why: why.slice(0, 200),
})

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
