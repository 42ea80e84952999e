import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command } from '../../cli/verify.ts'
import { badNetworks, networkText, otherNetworks } from '../support/network-files.ts'
import { runCommand } from '../support/run-command.ts'
import { sampleFile, sampleText } from '../support/tampered.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('bundles are held against the network file that is named', async () => {
  using folder = temporaryFolder()
  const network = join(folder.path, 'network.json')
  const verify = async (text: string) => {
    writeFileSync(network, text)
    return await runCommand(command, { words: [sampleFile('alone')], flags: { network } })
  }
  const good = await verify(networkText())
  expect([good.code, good.out]).toEqual([0, expect.stringContaining('the network Lagos you named')])
  for (const { text, why } of otherNetworks) {
    const { code, out } = await verify(text)
    expect([code, out]).toEqual([1, expect.stringContaining(why)])
  }
  for (const { text, why } of badNetworks) {
    const { code, out, err } = await verify(text)
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(why)])
  }
  const flags = { network: join(folder.path, 'missing.json') }
  expect((await runCommand(command, { words: [sampleFile('alone')], flags })).code).toBe(2)
})

test('bundles a line each are called what each of them is: a demonstration, and not asked of which network', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'bundles.ndjson')
  writeFileSync(file, sampleText('alone') + sampleText('in-a-city'))
  const { code, out } = await runCommand(command, { words: [file] })
  expect(code).toBe(0)
  expect(out).toContain('PROVEN, ON A DEMONSTRATION CHAIN: all 2 readings')
  expect(out.match(/^– pins, not asked: .*no chain and no contract$/gm)).toHaveLength(1)
  const { out: json } = await runCommand(command, { words: [file], flags: { json: true } })
  expect(JSON.parse(json)).toMatchObject({ ok: true, demonstration: true })
})
