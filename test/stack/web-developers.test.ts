import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventKinds } from '../../core/delivery/delivery.ts'
import { calls } from '../../dashboard/web/pages/developers/calls.ts'
import { newSecretKey } from '../../runtime/secrets/seal-secret.ts'
import { chromiumMissing } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { type SettingsBrowser, settingsBrowser } from '../support/settings-browser.ts'
import { type SignedIn, signedIn } from '../support/signed-in.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sensor = 'NGR-LOS-IKJ-001'
const run = promisify(execFile)

let browser: SettingsBrowser
let person: SignedIn
// a browser on a busy machine

describe.skipIf(chromiumMissing !== undefined)(
  `the page for developers${chromiumMissing === undefined ? '' : ` (skipped: ${chromiumMissing})`}`,
  () => {
    beforeAll(async () => {
      browser = await settingsBrowser(newSecretKey())
      const { api, dashboard } = browser
      await api.register({ id: sensor })
      await api.commit([{ sensor, timeMs: Math.floor(Date.now() / 1000) * 1000 }])
      await api.snapshot()
      person = await signedIn(dashboard)
    })
    afterAll(() => browser[Symbol.asyncDispose]())

    test('links to the reference, and every example runs as it is pasted', async () => {
      const { key } = (await person.ask('POST', '/data/keys', { name: 'a' })).body
      const authorization = `Bearer ${key}`
      await eventually('the key works', async () => {
        const answer = await fetch(`${browser.api.url}/v1/usage`, { headers: { authorization } })
        return answer.status === 200
      })
      const { page, ...window } = await browser.open(person, { width: 390 })
      await window.goTo('/developers')
      const reference = page.getByRole('link', { name: 'Open the API reference' })
      const docs = await fetch((await reference.getAttribute('href')) ?? '')
      expect([docs.status, (await docs.text()).includes('/v1/readings')]).toEqual([200, true])

      const code = page.locator('pre[aria-label^="Example in"]')
      await page.getByLabel('Your key').fill("'; touch /tmp/x; '")
      expect(await code.textContent()).toContain('Bearer YOUR_API_KEY')
      await page.getByLabel('Your key').fill(key)
      for (const call of calls) {
        await page.getByLabel('Example', { exact: true }).selectOption(call)
        const command = (await code.textContent()) ?? ''
        expect(command).toContain(authorization)
        // a stream does not end by itself
        const bounded = call === 'stream' ? `timeout 3 ${command}` : command
        const { stdout } = await run('bash', ['-c', `${bounded} || test $? = 124`])
        const isRight =
          call === 'stream' ? stdout.includes('id: ') : JSON.parse(stdout).status === 'success'
        expect([call, isRight]).toEqual([call, true])
      }
      await page.getByLabel('Example', { exact: true }).selectOption('readings')
      using folder = temporaryFolder()
      for (const [language, program, file] of [
        ['TypeScript', process.execPath, 'example.mts'],
        ['Python', 'python3', 'example.py'],
      ] as const) {
        await page.getByRole('button', { name: language }).click()
        const path = join(folder.path, file)
        writeFileSync(path, (await code.textContent()) ?? '')
        const { stdout } = await run(program, [path])
        expect([language, stdout.includes(sensor)]).toEqual([language, true])
      }
      expect(window.complaints).toEqual([])
      await window.context.close()
    })

    test('the catalogue has an example and a schema of every kind of event', async () => {
      const { page, ...window } = await browser.open(person)
      await window.goTo('/developers')
      for (const kind of eventKinds) {
        await page.locator(`[id="${kind}"] summary`).click()
        const example = await page.getByLabel(`Example: ${kind}`, { exact: true }).textContent()
        expect(JSON.parse(example ?? '').event).toBe(kind)
        const schema = await page.getByLabel(`Schema: ${kind}`, { exact: true }).textContent()
        expect(JSON.parse(schema ?? '').$id).toBe(`airproof/webhook/${kind}`)
      }
      await window.context.close()
    })
  },
)
