import { readFileSync } from 'node:fs'

/** The version in package.json, which is part of every installation. */
export function ourVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file
  return (JSON.parse(text) as { version: string }).version
}
