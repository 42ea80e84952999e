import { readFileSync } from 'node:fs'
import { WrongUsage } from '../runtime/exit.ts'
import { type Correction, readCorrections, shippedCorrections } from '../schemas/corrections.ts'

/** Those of airproof, and the operator's own. @throws WrongUsage that names the variable */
export function readAllCorrections(file: string | undefined): readonly Correction[] {
  if (file === undefined) return shippedCorrections
  const fault = (why: string): WrongUsage =>
    new WrongUsage(`AIRPROOF_CORRECTIONS: ${file}: ${why} (docs/api.md#corrections)`)
  const own = readCorrections(jsonIn(file, fault))
  if (typeof own === 'string') throw fault(own)
  const taken = own.find(({ name }) => shippedCorrections.some((known) => known.name === name))
  if (taken !== undefined)
    throw fault(`${taken.name} is a correction of airproof: name it otherwise`)
  return [...shippedCorrections, ...own]
}

function jsonIn(file: string, fault: (why: string) => WrongUsage): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw fault(error instanceof Error ? error.message : 'it cannot be read')
  }
}
