/** Another sealing key while webhooks are sent: every signature is right, whichever key sealed its secret. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { command as access } from '../../cli/access/access.ts'
import { finishKey, isKeyOffered, offerKey } from '../../cli/access/rotate-key.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { secretBox } from '../../runtime/secrets/seal-secret.ts'
import { eventually } from '../support/eventually.ts'
import { readWebhook } from '../support/notifier.ts'
import { startReceiver } from '../support/receiver.ts'
import { runCommand } from '../support/run-command.ts'
import { runCity } from '../support/running-city.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('webhooks are signed all the while, also when the rotation was interrupted after any step', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const file = join(data, 'secret-key')
  await using receiver = await startReceiver()
  await using city = await runCity(data, { env: { AIRPROOF_ALLOW_INSECURE_WEBHOOKS: '1' } })
  const { api, key, nats, nats_operator: natsLogin } = city.instance
  const nc = await connectNats({ natsUrl: nats, natsLogin }, { name: 'test' })
  const call = async (path: string, body?: object) => {
    const answer = await fetch(`${api}/v1/webhooks${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        connection: 'close',
      },
      body: JSON.stringify(body ?? {}),
    })
    return { status: answer.status, body: (await answer.json()) as { webhook: Made } }
  }
  const made: Made[] = []
  const make = async (): Promise<Made> => {
    const { body } = await call('', { url: `${receiver.url}/${made.length}`, events: ['aqi.high'] })
    made.push(body.webhook)
    return body.webhook
  }
  /** One that is sent now arrives, signed with its own secret. */
  const signs = async ({ id, secret }: Made, path: number): Promise<void> => {
    const before = receiver.received.length
    expect((await call(`/${id}/test`)).status).toBe(200)
    const got = await eventually('it arrives', () =>
      receiver.received.slice(before).find((one) => one.path === `/hook/${path}`),
    )
    new StandardWebhook(secret).verify(got.body, got.headers as Record<string, string>)
  }
  const allSign = async (): Promise<void> => {
    for (const [path, webhook] of made.entries()) await signs(webhook, path)
  }
  const stop = new AbortController()
  let sent = 0
  try {
    await make()
    await allSign()
    const sending = (async () => {
      for (; !stop.signal.aborted; sent++) {
        await allSign()
        await pause(150)
      }
    })()
    sending.catch(() => undefined)
    const steps: string[] = []
    const rotate = (onStep: (step: string) => void): Promise<number> => {
      offerKey(file)
      return finishKey(nc, { file, stop: stop.signal, onStep })
    }
    const [first] = readFileSync(file, 'utf8').split('\n')
    expect(await rotate((step) => void steps.push(step))).toBe(1)
    expect(steps).toEqual(['the next key seals', 'sealed again', 'the former key is not needed'])
    for (const killedAt of steps) {
      const killed = rotate((step) => {
        if (step === killedAt) throw new Error('killed')
      })
      await expect(killed).rejects.toThrow('killed')
      expect(isKeyOffered(file)).toBe(true)
      // also one that is made now
      await make()
      const before = sent
      await eventually('they are signed', () => sent > before + 1)
      await rotate(() => undefined)
      expect(isKeyOffered(file)).toBe(false)
    }
    const env = { AIRPROOF_DATA: data }
    const flags = { rotate: ['webhook-key'] }
    expect(await runCommand(access, { name: 'access', flags, env })).toMatchObject({
      code: 0,
      err: '',
    })
    const now = readFileSync(file, 'utf8').trim()
    expect(now).not.toBe(first)
    for (const { id, secret } of made) {
      const record = await readWebhook(nc, id)
      expect(secretBox(now).open(record?.secrets.current ?? '', id)).toBe(secret)
    }
    const before = sent
    await eventually('they are signed', () => sent > before + 1)
    stop.abort()
    await sending

    // a process with the former key alone is not let on, and says why
    writeFileSync(file, `${first}\n`)
    const pid = city.instance.pids['notifier'] ?? 0
    process.kill(pid, 'SIGKILL')
    await eventually('it says so', () =>
      city.printed.some((line) => line.includes('sealed with another key')),
    )
    writeFileSync(file, `${now}\n`)
  } finally {
    stop.abort()
    await nc.close()
  }
})

type Made = { readonly id: string; readonly secret: string }
