import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { command as rejected } from '../../cli/rejected.ts'
import { command as replay } from '../../cli/replay/replay.ts'
import { listRejected, needRejected } from '../../operate/rejected-messages.ts'
import { entryOf, type TestPipeline, testPipeline } from '../support/pipeline.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let pipeline: TestPipeline
beforeAll(async () => {
  pipeline = await testPipeline()
})
afterAll(async () => {
  await pipeline[Symbol.asyncDispose]()
})

const replayFile = (file: string, flags = {}) =>
  runCommand(replay, {
    words: [file],
    flags: { format: 'ndjson', ...flags },
    env: { NATS_URL: pipeline.nats.url },
  })

/** What arrived on the subjects of sensors while something ran, byte for byte. */
async function publishedDuring(run: () => Promise<void>): Promise<readonly Buffer[]> {
  const published: Buffer[] = []
  const subscription = pipeline.nc.subscribe('air.again.>', {
    callback: (_error, { data }) => void published.push(Buffer.from(data)),
  })
  await pipeline.nc.flush()
  await run()
  await pipeline.nc.flush()
  subscription.unsubscribe()
  return published
}

describe('a replay of whole messages', () => {
  it('sends them byte for byte, so that wrong ones are refused and stored', async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, 'kept.ndjson')
    const id = 'NGR-LOS-NDJ-001'
    const stranger = `S${'7'.repeat(59)}`
    const lines = [
      `{"sensor_id":"${id}","timestamp":"2025-01-14T06:00:00Z","pm25":45.30}`,
      `[{"sensor_id":"${id}","timestamp":"2025-01-14T06:05:00Z","pm25":1}, {"pm25":2}]`,
      `{"sensor_id":"${id}","timestamp":"2025-01-14T06:10:00Z","pm25":"x"}`,
      `{"sensor_id":"${id}","timestamp":"2025-01-14T06:15:00","pm25":1}`,
      `{"sensor_id":"${id}","pm25":1}`,
      `{"sensor_id":"${id}","pm25":NaN}`,
      `{"sensor_id":"${id}","note":"\xFF"}`,
      `{"sensor_id":"${stranger}","timestamp":"2025-01-14T06:20:00Z","pm25":1}`,
    ].map((line) => Buffer.from(line, 'latin1'))
    const text = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]))
    writeFileSync(file, Buffer.concat([text, Buffer.from('{"pm25":1}\n')]))

    const unregistered = await replayFile(file)
    expect(unregistered.code).toBe(1)
    expect(unregistered.err).toMatch(
      /1 of its 2 sensors.*\(NGR-LOS-NDJ-001\).*\n.*sensors add --id NGR-LOS-NDJ-001 /,
    )
    await pipeline.register(entryOf(id))

    const published = await publishedDuring(async () => {
      const { code, out, err } = await replayFile(file, { json: true })
      expect(JSON.parse(out)).toEqual({
        sent: 9,
        accepted: 2,
        partial: 0,
        duplicate: 0,
        conflict: 0,
        refused: { schema: 3, no_offset: 1, not_json: 2, unknown_sensor: 1 },
        unmapped: 1,
      })
      expect(err).toContain(`${file}:9 cannot be sent: no sensor_id can be read from it`)
      expect(code).toBe(1)
    })
    expect(published).toHaveLength(lines.length)
    expect(published).toEqual(expect.arrayContaining(lines))

    const [unknown] = await listRejected(
      pipeline.nc,
      { reasons: ['unknown_sensor'], sensor: undefined },
      1,
    )
    expect(unknown?.sensor).toBe(stranger)
    const kept = await needRejected(pipeline.nc, unknown?.id ?? '')
    expect(Buffer.from(kept.bytes)).toEqual(lines[7])

    const list = (flags: object) =>
      runCommand(rejected, {
        words: ['list'],
        flags: { ...flags },
        env: { NATS_URL: pipeline.nats.url },
      })
    expect((await list({})).out).toMatch(/ S7{38}… /)
    expect((await list({ json: true })).out).toContain(stranger)
  })

  it('moves the times it can read and sends the rest unchanged', async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, 'shifted.ndjson')
    const id = 'NGR-LOS-NDJ-002'
    await pipeline.register(entryOf(id))
    const timed = (time: string): string =>
      `{"sensor_id":"${id}","timestamp":"${time}","pm25":1.50}`
    const unread = timed('2025-01-14T06:00:00')
    writeFileSync(file, [timed('2025-01-14T06:00:00Z'), unread, ''].join('\n'))
    const beforeMs = Date.now()
    const published = await publishedDuring(async () => {
      const { code, out } = await replayFile(file, { shift: 'now' })
      expect(code).toBe(0)
      expect(out).toContain('rows       2 = 2 readings + 0 lines that cannot be sent')
    })
    const [moved = '', still] = published.map(String).toSorted((a, b) => b.length - a.length)
    expect(still).toBe(unread)
    const time = /"timestamp":"([^"]*)"/.exec(moved)?.[1] ?? ''
    expect(moved).toBe(timed(time))
    expect(Date.parse(time)).toBeGreaterThanOrEqual(beforeMs)
    expect(Date.parse(time)).toBeLessThanOrEqual(Date.now())
  })

  it.each(['code', 'area', 'batch'])('refuses --%s, which it does not use', async (name) => {
    const { code, err } = await replayFile('any.ndjson', { [name]: '5' })
    expect(code).toBe(2)
    expect(err).toContain(`--${name}`)
  })
})
