/** The command as a person's own Node starts it, which may be older than the one that `npm ci` brings. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { environment } from '../../runtime/process/config.ts'
import { ourVersion } from '../../runtime/version.ts'

const env = environment()
const installed = (env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .filter((file) => existsSync(file))
const majorOf = (node: string): number =>
  Number(execFileSync(node, ['-p', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' }))
const older = installed.find((node) => majorOf(node) < 24)

test.skipIf(older === undefined)(
  `an older Node hands over to the one that npm brought${older === undefined ? ' (there is none on this machine)' : ''}`,
  () => {
    const printed = execFileSync(older ?? '', ['bin/airproof.mjs', '--version'], {
      encoding: 'utf8',
    })
    expect(printed.trim()).toContain(ourVersion())
  },
)
