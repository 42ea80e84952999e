/** The gate is killed while sensors sign in: nothing that was acknowledged is lost. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { partitionOf } from '../../core/air/sensor-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { environment } from '../../runtime/process/config.ts'
import { rawStream, rawSubject } from '../../schemas/subjects.ts'
import { eventually } from '../support/eventually.ts'
import { type Guarded, guardedNats } from '../support/gate.ts'

// three processes are started, on a machine that may be busy

const program = fileURLToPath(new URL('../../bin/airproof.mjs', import.meta.url))
const [steady, caller, pusher] = ['NGR-LOS-KIL-001', 'NGR-LOS-KIL-002', 'NGR-LOS-KIL-003']

/** A gate as a process of its own. */
async function spawnGate(nats: Guarded, pushPort: number) {
  const adminPort = await freePort()
  const child = spawn(process.execPath, [program, 'gate'], {
    env: {
      ...environment(),
      ...nats.gateEnv,
      AIRPROOF_PUSH_PORT: String(pushPort),
      AIRPROOF_ADMIN_PORT: String(adminPort),
    },
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await exited
  }
  await eventually('the gate is ready', async () => {
    const answer = await fetch(`http://127.0.0.1:${adminPort}/ready`).catch(() => undefined)
    await answer?.text()
    return answer?.ok
  })
  return { end, [Symbol.asyncDispose]: () => end('SIGTERM') }
}

test('with kill -9 while sensors sign in and push, every acknowledged reading is stored', async () => {
  await using nats = await guardedNats()
  const secrets = new Map<string, string>()
  for (const id of [steady, caller, pusher]) secrets.set(id, await nats.addSensor(id))
  const secretOf = (id: string): string => secrets.get(id) ?? ''
  const pushPort = await freePort()
  const killed = await spawnGate(nats, pushPort)

  const acknowledged = new Map(Array.from(secrets.keys(), (id) => [id, [] as string[]]))
  const startMs = Date.now() - 3_600_000
  let count = 0
  let isOver = false
  /** Sends one reading after the other; what fails was not promised. */
  const keepOn = async (id: string, send: (body: string) => Promise<unknown>): Promise<void> => {
    while (!isOver) {
      const timestamp = formatIso(startMs + count++ * 1_000)
      await send(JSON.stringify({ timestamp, pm25: 5 })).then(
        () => acknowledged.get(id)?.push(timestamp),
        () => new Promise((resolve) => setTimeout(resolve, 20)),
      )
    }
  }
  const open = await nats.sensor(steady, secretOf(steady))
  const sending = [
    keepOn(steady, (body) => jetstream(open).publish(`air.raw.${steady}`, body)),
    // a connection for each
    keepOn(caller, async (body) => {
      const nc = await nats.sensor(caller, secretOf(caller))
      await jetstream(nc).publish(`air.raw.${caller}`, body)
      await nc.close()
    }),
    keepOn(pusher, async (body) => {
      const answer = await fetch(`http://127.0.0.1:${pushPort}/push/readings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${pusher}:${secretOf(pusher)}` },
        body,
      })
      await answer.text()
      if (answer.status !== 202) throw new Error(String(answer.status))
    }),
  ]
  /** Three more of each of them; a sensor that signs in each time is slower than the others. */
  const threeMore = (ids: readonly string[]) => {
    const lengthOf = (id: string): number => acknowledged.get(id)?.length ?? 0
    const before = ids.map(lengthOf)
    return () => ids.every((id, i) => lengthOf(id) >= (before[i] ?? 0) + 3)
  }
  const all = [...acknowledged.keys()]
  await eventually('each was stored', threeMore(all))
  await killed.end('SIGKILL')
  await eventually('connected sensors continue', threeMore([steady]))
  await using _next = await spawnGate(nats, pushPort)
  await eventually('each is stored again', threeMore(all))
  isOver = true
  await Promise.all(sending)

  for (const [id, times] of acknowledged) {
    const stored = await storedOf(nats, id)
    expect(stored).toEqual(expect.arrayContaining(times))
    expect(new Set(stored).size).toBe(stored.length)
  }
})

async function storedOf(nats: Guarded, id: string): Promise<readonly string[]> {
  const partition = partitionOf(id)
  const manager = await jetstreamManager(nats.nc)
  const consumer = await jetstream(nats.nc).consumers.get(rawStream(partition), {
    filter_subjects: rawSubject(partition, id),
  })
  const { state } = await manager.streams.info(rawStream(partition), {
    subjects_filter: rawSubject(partition, id),
  })
  const expected = Object.values(state.subjects ?? {}).reduce((sum, n) => sum + n, 0)
  const stored: string[] = []
  for await (const message of await consumer.fetch({ max_messages: expected })) {
    stored.push(message.json<{ timestamp: string }>().timestamp)
    if (stored.length === expected) break
  }
  return stored
}
