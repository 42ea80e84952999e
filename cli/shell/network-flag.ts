import { readFileSync } from 'node:fs'
import { type Network, readNetwork } from '../../anchor/verifier/airproof-verify.js'
import { WrongUsage } from '../../runtime/exit.ts'
import type { Flags } from '../../runtime/settings.ts'
import { textFlag } from './words.ts'

/**
 * The network that the person means, from the file that `--network` names.
 * @throws WrongUsage in words: a file that cannot be read must not pass for no pin
 */
export function networkFlag(flags: Flags): Network | undefined {
  const file = textFlag(flags, 'network')
  if (file === undefined) return undefined
  try {
    return readNetwork(readFileSync(file, 'utf8'))
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    throw new WrongUsage(`--network ${file}: ${cause.message}`, { cause })
  }
}
