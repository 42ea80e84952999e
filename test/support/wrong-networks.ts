/** Whether a verifier, run as a command, takes and refuses the same network files as the others. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  badNetworks,
  networkText,
  otherNetworks,
  otherRanges,
  wholeNetworks,
} from './network-files.ts'
import { sampleFile } from './tampered.ts'
import { temporaryFolder } from './temporary-folder.ts'

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string }
type Case = {
  readonly name: string
  readonly sample?: string
  readonly text: string
  readonly isRight: (ran: Ran) => boolean
}

const saysNoRange = 'the network file does not say where each contract begins and ends'
const isAlone = 'no other contract of the network Lagos counts for that number'

const cases: readonly Case[] = [
  {
    name: 'an older file, of which it says what it does not pin: not asked, and on trust',
    text: networkText(),
    isRight: ({ code, stdout }) => code === 0 && stdout.split(saysNoRange).length === 3,
  },
  ...wholeNetworks.map(({ sample, text }) => ({
    name: `a whole file with ${sample}`,
    sample,
    text,
    isRight: ({ code, stdout }: Ran) =>
      code === 0 &&
      !stdout.includes(saysNoRange) &&
      stdout.includes(isAlone) === sample.startsWith('v2'),
  })),
  ...[...otherNetworks, ...otherRanges].map(({ why, ...one }) => ({
    ...one,
    isRight: ({ code, stdout }: Ran) => code === 1 && new RegExp(`pins: .*${why}`).test(stdout),
  })),
  ...badNetworks.map(({ why, ...one }) => ({
    ...one,
    isRight: ({ code, stdout, stderr }: Ran) => code === 2 && stdout === '' && stderr.includes(why),
  })),
]

/**
 * @param verify runs it with the files of a network and of a bundle
 * @returns the files with which it does not do what it should, and what it does
 */
export async function wrongNetworks(
  verify: (network: string, bundle: string) => Promise<Ran>,
): Promise<readonly (Ran & { readonly name: string })[]> {
  using folder = temporaryFolder()
  const network = join(folder.path, 'network.json')
  const wrong = []
  for (const { name, sample = 'alone', text, isRight } of cases) {
    writeFileSync(network, text)
    const ran = await verify(network, sampleFile(sample))
    if (!isRight(ran)) wrong.push({ name, ...ran })
  }
  return wrong
}
