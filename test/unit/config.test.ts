import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeRunningInstance } from '../../runtime/machine/running-instance.ts'
import { environment, readSharedConfig } from '../../runtime/process/config.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const read = (env: Record<string, string>) => readSharedConfig({ env, flags: {} })

test('by default, readings go into SQLite in the data folder', () => {
  using folder = temporaryFolder()
  expect(read({ AIRPROOF_DATA: folder.path })).toEqual({
    dataFolder: folder.path,
    natsUrl: undefined,
    natsCreds: undefined,
    natsLogin: undefined,
    natsPinFile: undefined,
    replicas: 1,
    store: { kind: 'sqlite', file: join(folder.path, 'readings.sqlite') },
    storeChanged: false,
    idPrefix: 'NGR-LOS',
    earliestMs: Date.UTC(2015, 0, 1),
    admin: { host: '127.0.0.1', port: 0 },
    logLevel: 'info',
  })
})

test('the NATS of the instance that runs on the folder is found, and NATS_URL overrides it', () => {
  using folder = temporaryFolder()
  const account = { email: 'a@b.example', password: 'p' }
  writeRunningInstance(folder.path, {
    api: 'http://a',
    nats: 'nats://b',
    key: 'k',
    account,
    pids: {},
  })
  expect(read({ AIRPROOF_DATA: folder.path }).natsUrl).toBe('nats://b')
  expect(read({ AIRPROOF_DATA: folder.path, NATS_URL: 'nats://c' }).natsUrl).toBe('nats://c')
})

test('an InfluxDB without a token is an error that names the variable', () => {
  expect(() => read({ INFLUX_URL: 'http://localhost:8086' })).toThrow('INFLUX_TOKEN_FILE')
  expect(read({ INFLUX_URL: 'http://localhost:8086', INFLUX_TOKEN: 't' }).store).toEqual({
    kind: 'influx',
    url: 'http://localhost:8086',
    token: 't',
    org: 'airproof',
    bucket: 'air',
  })
})

test.each(['lagos', 'NGR LOS', 'NGR.LOS', '*'])('the id prefix %j is refused', (prefix) => {
  expect(() => read({ AIRPROOF_ID_PREFIX: prefix })).toThrow('AIRPROOF_ID_PREFIX')
})

test('.env is read, and the environment overrides it', () => {
  using folder = temporaryFolder()
  const file = join(folder.path, '.env')
  writeFileSync(file, '# ours\nAIRPROOF_ONLY_HERE="a b"\nPATH=/nowhere\n')
  const env = environment(file)
  expect(env['AIRPROOF_ONLY_HERE']).toBe('a b')
  expect(env['PATH']).not.toBe('/nowhere')
  expect(environment(join(folder.path, 'none'))['AIRPROOF_ONLY_HERE']).toBeUndefined()
})
