/**
 * The private keys of the demonstration's signing sensors. In a real city they never leave their devices;
 * here they are kept in the data folder, so that the sensors are the same after a restart.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasLowS, type SignatureAlgorithm } from '../../core/air/device-signature.ts'
import { type DeviceKey, publicKeyOf } from '../../runtime/device-key.ts'
import { MustAct } from '../../runtime/exit.ts'
import { writePrivateFile } from '../../runtime/private-file.ts'

export type DeviceSigner = {
  readonly key: DeviceKey
  /** @returns base64 */
  readonly sign: (text: string) => string
}

/** Reads the key of a sensor, or makes one. @throws MustAct the file holds another thing */
export function deviceSigner(
  folder: string,
  id: string,
  algorithm: SignatureAlgorithm,
): DeviceSigner {
  const file = join(folder, `${id}.pem`)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { privateKey } =
      algorithm === 'ed25519'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('ec', { namedCurve: 'P-256' })
    writePrivateFile(file, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString())
  }
  const privateKey = readKey(file)
  const key = publicKeyOf(privateKey)
  if (typeof key === 'string') throw new MustAct(`${file}: ${key}`)
  return { key, sign: (text) => signed(key.algorithm, privateKey, text).toString('base64') }
}

function readKey(file: string): KeyObject {
  try {
    return createPrivateKey(readFileSync(file))
  } catch (cause) {
    throw new MustAct(`${file} does not hold a private key: delete it, and a new one is made`, {
      cause,
    })
  }
}

/** Half of all signatures of P-256 have the s that is taken. */
function signed(algorithm: SignatureAlgorithm, key: KeyObject, text: string): Buffer {
  if (algorithm === 'ed25519') return sign(null, Buffer.from(text), key)
  for (;;) {
    const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
    if (hasLowS(algorithm, signature)) return signature
  }
}
