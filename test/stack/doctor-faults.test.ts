/** What `airproof doctor` says of each broken thing, one by one, on real servers. */
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureContract } from '../../anchor/deploy/ensure-contract.ts'
import { ensureKeyFile } from '../../anchor/deploy/key-file.ts'
import { checkBeforeUp } from '../../cli/doctor/check-before-up.ts'
import { checks } from '../../cli/doctor/checks.ts'
import { command } from '../../cli/doctor/doctor.ts'
import { openWorld } from '../../cli/doctor/open-world.ts'
import { type Checked, runChecks } from '../../cli/doctor/run-checks.ts'
import { findNatsServer } from '../../runtime/engines/find-nats-server.ts'
import { newNatsAccess, rotateNext, writeNatsAccess } from '../../runtime/engines/nats-access.ts'
import { startNatsServer } from '../../runtime/engines/nats-server.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { environment, readSharedConfig } from '../../runtime/process/config.ts'
import { newSecretKey } from '../../runtime/secrets/seal-secret.ts'
import { buckets } from '../../schemas/subjects.ts'
import { levelKey, systemKeys } from '../../schemas/system-keys.ts'
import { testAnvil } from '../support/anvil.ts'
import { testAuthority } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing, testInflux } from '../support/influx.ts'
import { signInAs, testNats } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { testSmtp } from '../support/smtp.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const noInflux = await influxMissing()
type Env = Readonly<Record<string, string>>

/** A healthy instance on real servers; each test breaks one thing of it. */
async function openHealthy() {
  await using opening = new AsyncDisposableStack()
  const folder = opening.use(temporaryFolder())
  chmodSync(folder.path, 0o700)
  const [nats, anvil, smtp] = await Promise.all([
    testNats({ syncAlways: true }),
    testAnvil(),
    testSmtp(),
  ])
  for (const server of [nats, anvil, smtp]) opening.use(server)
  const nc = await nats.connect()
  opening.defer(() => nc.close())
  await ensureStreams(nc)
  const keyFile = join(folder.path, 'anchor.key')
  const account = ensureKeyFile(keyFile)
  const stop = new AbortController().signal
  const contract = ensureContract({ url: anvil.url, account, stop })
  await contract.ensure()
  await contract.remember(nc)
  const env: Env = {
    AIRPROOF_DATA: folder.path,
    AIRPROOF_API_PORT: '0',
    AIRPROOF_DASHBOARD_PORT: '0',
    NATS_URL: nats.url,
    ...signInAs('operator'),
    NATS_SYSTEM_USER: 'system',
    NATS_SYSTEM_PASSWORD: signInAs('system').NATS_PASSWORD ?? '',
    CHAIN_RPC_URL: anvil.url,
    SMTP_URL: smtp.url,
  }
  const opened = opening.move()
  return { folder, nats, nc, anvil, smtp, env, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
type Healthy = Awaited<ReturnType<typeof openHealthy>>

let healthy: Healthy
beforeAll(async () => {
  healthy = await openHealthy()
})
afterAll(() => healthy?.[Symbol.asyncDispose]())

async function doctor(change: Env = {}): Promise<{ code: number; findings: readonly Checked[] }> {
  const { code, out } = await runCommand(command, {
    env: { ...healthy.env, ...change },
    flags: { json: true },
  })
  return { code, findings: JSON.parse(out).findings }
}

test('of a healthy instance every check is ok, and the command ends with 0', async () => {
  // a machine without time for a check says so
  const { code, findings } = await eventually('every check has an answer', async () => {
    const seen = await doctor()
    return seen.findings.every(({ what }) => !/no answer|no server answered/.test(what)) && seen
  })
  expect(findings.filter(({ level }) => level !== 'ok')).toEqual([])
  expect(code).toBe(0)
  expect(new Set(findings.map(({ check }) => check))).toEqual(
    new Set(checks.map(({ name }) => name)),
  )
})

type Fault = {
  readonly of: string
  /** Else it is broken. */
  readonly level?: 'warning'
  /** One line names it … */
  readonly what: RegExp
  /** … and what to do. */
  readonly fix: RegExp
  /** Returns further settings; what it undoes later is in `later`. */
  readonly breaks: (it: Healthy, later: AsyncDisposableStack) => Env | Promise<Env>
}

const faults: Readonly<Record<string, Fault>> = {
  'a setting that no process can read': {
    of: 'settings',
    what: /AIRPROOF_WEBHOOK_RATE .*is "0"/,
    fix: /whole number from 1 to 10000/,
    breaks: () => ({ AIRPROOF_WEBHOOK_RATE: '0' }),
  },
  'a setting of all processes that cannot be read': {
    of: 'settings',
    what: /AIRPROOF_LOG .*is "loud"/,
    fix: /one of trace, debug/,
    breaks: () => ({ AIRPROOF_LOG: 'loud' }),
  },
  'a name that is not a setting': {
    of: 'settings',
    level: 'warning',
    what: /AIRPROOF_API_PROT is set/,
    fix: /did you mean AIRPROOF_API_PORT/,
    breaks: () => ({ AIRPROOF_API_PROT: '1' }),
  },
  'a secret file that is not there': {
    of: 'settings',
    what: /AIRPROOF_CALLOUT_SEED_FILE names no\/such\/file/,
    fix: /cannot be read/,
    breaks: () => ({ AIRPROOF_CALLOUT_SEED_FILE: 'no/such/file' }),
  },
  'a key for webhooks that is too short': {
    of: 'settings',
    what: /AIRPROOF_SECRET_FILE must hold a key of 32 bytes/,
    fix: /openssl rand -hex 32/,
    breaks: () => ({ AIRPROOF_SECRET: 'short' }),
  },
  'a data folder that is a file': {
    of: 'data folder',
    what: /is a file/,
    fix: /move it away, or choose another folder/,
    breaks: ({ folder }) => {
      const file = join(folder.path, 'a-file')
      writeFileSync(file, '')
      return { AIRPROOF_DATA: join(file, 'data') }
    },
  },
  'a data folder that others may look into': {
    of: 'data folder',
    level: 'warning',
    what: /others of this machine may look into .*755/,
    fix: /chmod 700/,
    breaks: ({ folder }) => {
      const open = join(folder.path, 'open')
      mkdirSync(open)
      chmodSync(open, 0o755)
      return { AIRPROOF_DATA: open, ANCHOR_KEY_FILE: join(folder.path, 'anchor.key') }
    },
  },
  'a private key that others may read': {
    of: 'file modes',
    what: /anchor\.key holds a secret, and others may read it \(mode 644\)/,
    fix: /chmod 600/,
    breaks: ({ folder }, later) => {
      const key = join(folder.path, 'anchor.key')
      chmodSync(key, 0o644)
      later.defer(() => chmodSync(key, 0o600))
      return {}
    },
  },
  'a port that another program has': {
    of: 'ports',
    what: /port \d+ is in use/,
    fix: /AIRPROOF_API_PORT/,
    breaks: async (_it, later) => ({ AIRPROOF_API_PORT: String(await silent(later)) }),
  },
  'a chosen admin port, other than the first one, that another program has': {
    of: 'ports',
    what: /the admin port of gate: port \d+ is in use/,
    fix: /AIRPROOF_ADMIN_PORT/,
    breaks: async (_it, later) => ({ AIRPROOF_ADMIN_PORT: String((await silent(later)) - 3) }),
  },
  'a certificate that has expired': {
    of: 'TLS',
    what: /has expired at 2020-02-01/,
    fix: /renew it/,
    breaks: ({ folder }) => certificate(folder, ['20200101000000Z', '20200201000000Z']),
  },
  'a certificate that expires soon': {
    of: 'TLS',
    level: 'warning',
    what: /expires in [01] days/,
    fix: /renew it/,
    breaks: ({ folder }) => certificate(folder),
  },
  'a key that is not of the certificate': {
    of: 'TLS',
    what: /is not the key of/,
    fix: /to a pair/,
    breaks: ({ folder }) => ({
      ...certificate(folder),
      AIRPROOF_TLS_KEY_FILE: certificate(folder).AIRPROOF_TLS_KEY_FILE,
    }),
  },
  'a password without its user': {
    of: 'settings',
    what: /NATS_PASSWORD is set/,
    fix: /NATS_USER is needed too/,
    breaks: () => ({ NATS_USER: '' }),
  },
  'a rotation of passwords that was interrupted': {
    of: 'rotations',
    level: 'warning',
    what: /passwords of api are half rotated/,
    fix: /airproof access --finish/,
    breaks: ({ folder }, later) => {
      const file = join(folder.path, 'nats-access.json')
      writeNatsAccess(file, rotateNext(newNatsAccess(), ['api']))
      chmodSync(file, 0o600)
      later.defer(() => rmSync(file))
      return {}
    },
  },
  'a key that is half rotated': {
    of: 'rotations',
    level: 'warning',
    what: /secret-key has two secrets/,
    fix: /airproof access --finish/,
    breaks: ({ folder }, later) => {
      const file = join(folder.path, 'secret-key')
      writeFileSync(file, `${newSecretKey()}\n${newSecretKey()}\n`, { mode: 0o600 })
      later.defer(() => rmSync(file))
      return {}
    },
  },
  'a NATS that is not running': {
    of: 'NATS',
    what: /does not answer \(connection refused\)/,
    fix: /is it running\? Check NATS_URL/,
    breaks: async () => ({ NATS_URL: `nats://127.0.0.1:${await freePort()}` }),
  },
  'a NATS that is silent': {
    of: 'NATS',
    what: /does not answer in time/,
    fix: /is it running, and does a firewall block it/,
    breaks: async (_it, later) => ({ NATS_URL: `nats://127.0.0.1:${await silent(later)}` }),
  },
  'a wrong password of NATS': {
    of: 'NATS',
    what: /refuses the user "operator"/,
    fix: /NATS_PASSWORD_FILE/,
    breaks: () => ({ NATS_PASSWORD: 'wrong' }),
  },
  'a NATS without JetStream': {
    of: 'NATS',
    what: /has no JetStream/,
    fix: /add `jetstream \{ store_dir/,
    breaks: async ({ folder }, later) => {
      const port = await freePort()
      const server = await startNatsServer({
        engine: await findNatsServer({ env: environment() }),
        folder: join(folder.path, 'bare'),
        port,
        env: environment(),
        config: `listen: "127.0.0.1:${port}"\n`,
      })
      later.defer(async () => void (await server.stop()))
      return {
        NATS_URL: server.url,
        NATS_USER: '',
        NATS_PASSWORD: '',
        NATS_SYSTEM_USER: '',
        NATS_SYSTEM_PASSWORD: '',
      }
    },
  },
  'more copies than there are servers': {
    of: 'NATS',
    what: /AIRPROOF_REPLICAS is 3, and this server is not in a cluster/,
    fix: /make a cluster of that many servers/,
    breaks: () => ({ AIRPROOF_REPLICAS: '3' }),
  },
  'a NATS that does not sync each write': {
    of: 'sync',
    level: 'warning',
    what: /acknowledge before a write is on the disk/,
    fix: /sync_interval: always/,
    breaks: async (_it, later) => {
      const lazy = later.use(await testNats())
      return { NATS_URL: lazy.url }
    },
  },
  'a bucket that was deleted': {
    of: 'streams',
    what: /missing: KV_quota/,
    fix: /`airproof streams` makes them again/,
    breaks: async ({ nc }, later) => {
      await (await jetstreamManager(nc)).streams.delete('KV_quota')
      later.defer(() => ensureStreams(nc).then(() => undefined))
      return {}
    },
  },
  'a stream that an older version made': {
    of: 'streams',
    level: 'warning',
    what: /AUDIT: duplicate_window 120000000000 → 100000000/,
    fix: /`airproof streams` brings it up to date/,
    breaks: async ({ nc }, later) => {
      const manager = await jetstreamManager(nc)
      await manager.streams.update('AUDIT', { duplicate_window: 120_000_000_000 })
      later.defer(() => ensureStreams(nc).then(() => undefined))
      return {}
    },
  },
  'a format level that this version does not know': {
    of: 'format level',
    what: /writes formats of level 99/,
    fix: /use the version that raised the level/,
    breaks: async ({ nc }, later) => {
      const system = await new Kvm(nc).open(buckets.system)
      const now = (await system.get(systemKeys.format))?.string() ?? ''
      await system.put(systemKeys.format, '{"level":99}')
      later.defer(() => system.put(systemKeys.format, now).then(() => undefined))
      return {}
    },
  },
  'a process that knows an older level only': {
    of: 'format level',
    level: 'warning',
    what: /pipeline on air-2 \(process 4711, airproof 0\.1\.9\) knows level 1 only/,
    fix: /replace it with this version/,
    breaks: async ({ nc }, later) => {
      const leases = await new Kvm(nc).open(buckets.leases)
      const key = levelKey('pipeline', 'old')
      const report = { level: 1, version: '0.1.9', host: 'air-2', pid: 4711, renewed: 1 }
      await leases.put(key, JSON.stringify(report))
      later.defer(() => leases.delete(key))
      return {}
    },
  },
  'an SQLite file of another program': {
    of: 'store',
    what: /readings\.sqlite/,
    fix: /restore it from a backup/,
    breaks: ({ folder }) => {
      const other = join(folder.path, 'damaged')
      mkdirSync(other, { mode: 0o700 })
      writeFileSync(join(other, 'readings.sqlite'), 'not a database at all'.repeat(100))
      return { AIRPROOF_DATA: other, ANCHOR_KEY_FILE: join(folder.path, 'anchor.key') }
    },
  },
  'a store other than the one with the history': {
    of: 'store',
    level: 'warning',
    what: /readings are kept in the InfluxDB bucket air of airproof at http:\/\/air:8086/,
    fix: /set INFLUX_URL/,
    breaks: async ({ nc }, later) => {
      const system = await new Kvm(nc).open(buckets.system)
      const place = { kind: 'influx', url: 'http://air:8086/', org: 'airproof', bucket: 'air' }
      await system.put(systemKeys.store, JSON.stringify(place))
      later.defer(() => system.delete(systemKeys.store))
      return {}
    },
  },
  'an InfluxDB that is not running': {
    of: 'store',
    what: /InfluxDB at http:\/\/127\.0\.0\.1:\d+/,
    fix: /check INFLUX_URL, and whether the server runs/,
    breaks: async () => ({
      INFLUX_URL: `http://127.0.0.1:${await freePort()}`,
      INFLUX_TOKEN: 't',
    }),
  },
  'a node of the chain that is not running': {
    of: 'chain',
    what: /the node 127\.0\.0\.1:\d+ does not answer/,
    fix: /check CHAIN_RPC_URL/,
    breaks: async () => ({ CHAIN_RPC_URL: `http://127.0.0.1:${await freePort()}/secret-path` }),
  },
  'one of two nodes that is not running': {
    of: 'chain',
    level: 'warning',
    what: /the node 127\.0\.0\.1:\d+ does not answer/,
    fix: /one that answers is enough/,
    breaks: async ({ anvil }) => ({
      CHAIN_RPC_URL: `${anvil.url},http://127.0.0.1:${await freePort()}`,
    }),
  },
  'a node of another chain': {
    of: 'chain',
    what: /is of chain 1, and the anchors are on chain|is of chain 31337, and the anchors are on chain 1/,
    fix: /correct CHAIN_RPC_URL, or CHAIN_ID/,
    breaks: () => ({ CHAIN_ID: '1' }),
  },
  'a contract that is not there': {
    of: 'chain',
    what: /there is no contract of ours at 0x/,
    fix: /correct CHAIN_RPC_URL or ANCHOR_CONTRACT/,
    breaks: async ({ folder }, later) => {
      const nats = later.use(await testNats({ syncAlways: true }))
      return {
        NATS_URL: nats.url,
        ANCHOR_CONTRACT: '0x00000000000000000000000000000000000000aa',
        AIRPROOF_DATA: folder.path,
      }
    },
  },
  'a writer without coin': {
    of: 'chain',
    what: /the writer 0x\w+ has 0 of the chain's coin/,
    fix: /send some of the coin/,
    breaks: async ({ folder, anvil }, later) => {
      const { address } = ensureKeyFile(join(folder.path, 'anchor.key'))
      const now = await anvil.rpc('eth_getBalance', [address, 'latest'])
      await anvil.rpc('anvil_setBalance', [address, '0x0'])
      later.defer(() => anvil.rpc('anvil_setBalance', [address, now]).then(() => undefined))
      return {}
    },
  },
  'a key that is not the writer’s': {
    of: 'chain',
    what: /and the contract takes anchors from 0x/,
    fix: /set ANCHOR_KEY_FILE to the writer’s key/,
    breaks: async ({ folder, anvil }) => {
      const file = join(folder.path, 'other-anchor.key')
      const { address } = ensureKeyFile(file)
      await anvil.rpc('anvil_setBalance', [address, '0x3635c9adc5dea00000'])
      return { ANCHOR_KEY_FILE: file }
    },
  },
  'a mail server that is not running': {
    of: 'mail',
    what: /127\.0\.0\.1 takes no emails: .*ECONNREFUSED/,
    fix: /correct SMTP_URL/,
    breaks: async () => ({ SMTP_URL: `smtp://127.0.0.1:${await freePort()}` }),
  },
  'a mail server that refuses the password': {
    of: 'mail',
    what: /takes no emails: .*535.*wrong password/,
    fix: /correct SMTP_URL: address, user, password/,
    breaks: async (_it, later) => {
      const smtp = later.use(await testSmtp({ password: () => 'right' }))
      return { SMTP_URL: smtp.url.replace('//', '//user:secret-path@') }
    },
  },
  'a mail server elsewhere without TLS': {
    of: 'mail',
    what: /offers no TLS/,
    fix: /AIRPROOF_ALLOW_PLAIN_SMTP/,
    breaks: ({ smtp }) => ({ SMTP_URL: smtp.farUrl }),
  },
  'a message that cannot be read': {
    of: 'messages',
    what: /AUDIT: a message cannot be read, \d+ \(audit\.acc_1: /,
    fix: /nats stream rmm AUDIT SEQUENCE/,
    breaks: async ({ nc }, later) => {
      await nc.request('audit.acc_1', 'not JSON')
      later.defer(() =>
        jetstreamManager(nc)
          .then((manager) => manager.streams.purge('AUDIT'))
          .then(() => undefined),
      )
      return {}
    },
  },
  'an archive that does not go on': {
    of: 'archive',
    what: /has not gone on since 2026-11-22T00:10:00Z, in \/srv\/archive: ENOSPC/,
    fix: /docs\/archive\.md/,
    breaks: async ({ nc }, later) => {
      const system = await new Kvm(nc).open(buckets.system)
      const report = { folder: '/srv/archive', run: 3, complete_until: null, batch: 7 }
      const trouble = { trouble: 'ENOSPC: no space left', trouble_since: '2026-11-22T00:10:00Z' }
      await system.put(systemKeys.archive, JSON.stringify({ ...report, ...trouble }))
      later.defer(() => system.delete(systemKeys.archive))
      return {}
    },
  },
}

/** A server that takes connections and says nothing. */
async function silent(later: AsyncDisposableStack): Promise<number> {
  const sockets: { destroy: () => void }[] = []
  const server = createServer((socket) => void sockets.push(socket))
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
  later.defer(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return port
}

let certificates = 0
function certificate(
  { path }: { readonly path: string },
  validity?: readonly [string, string],
): { AIRPROOF_TLS_CERT_FILE: string; AIRPROOF_TLS_KEY_FILE: string } {
  const folder = join(path, `tls-${++certificates}`)
  mkdirSync(folder, { mode: 0o700 })
  const name = 'air.example'
  const { cert, key } = testAuthority(folder).issue(validity ? { name, validity } : { name })
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key, { mode: 0o600 })
  return { AIRPROOF_TLS_CERT_FILE: certFile, AIRPROOF_TLS_KEY_FILE: keyFile }
}

test.each(Object.entries(faults))('%s is named in one line with its fix', async (_name, fault) => {
  await using later = new AsyncDisposableStack()
  const change = await fault.breaks(healthy, later)
  const { code, findings } = await doctor(change)
  const level = fault.level ?? 'broken'
  const lines = findings
    .filter((each) => each.check === fault.of && each.level === level)
    .map(({ what, fix }) => (fix === undefined ? what : `${what}: ${fix}`))
  expect(lines.filter((line) => fault.what.test(line) && fault.fix.test(line))).toHaveLength(1)
  expect(lines.join('')).not.toContain('\n')
  expect(code).toBe(findings.some((each) => each.level === 'broken') ? 1 : 0)
  expect(JSON.stringify(findings)).not.toContain('secret-path')
})

test('of a NATS that refuses the password it is not said that there is no contract', async () => {
  const { findings } = await doctor({ NATS_PASSWORD: 'wrong' })
  expect(findings.filter(({ what }) => what.includes('no contract'))).toEqual([])
})

test('a disk without room, and a clock that is 6 minutes apart, are named', async () => {
  const source = { env: healthy.env, flags: {} }
  const stop = new AbortController().signal
  const options = { source, config: readSharedConfig(source), stop }
  await using world = openWorld({
    ...options,
    needsBytes: Number.MAX_SAFE_INTEGER,
    nowMs: () => Date.now() + 360_000,
  })
  const findings = await runChecks(checks, world, { note: () => undefined })
  const wrong = findings.filter(({ level }) => level === 'broken')
  expect(wrong).toEqual([
    expect.objectContaining({ check: 'disk', fix: expect.stringContaining('make room') }),
    expect.objectContaining({
      check: 'clock',
      what: 'the clock of this machine is 360 s ahead of that of NATS',
      fix: expect.stringContaining('time server'),
    }),
  ])
})

test('with every server silent the whole program ends within 5 s, and says what it waits for', async () => {
  await using later = new AsyncDisposableStack()
  const [nats, influx, chain, mail] = await Promise.all([1, 2, 3, 4].map(() => silent(later)))
  const env = {
    ...environment(),
    AIRPROOF_DATA: healthy.folder.path,
    AIRPROOF_API_PORT: '0',
    AIRPROOF_DASHBOARD_PORT: '0',
    NATS_URL: `nats://127.0.0.1:${nats}`,
    INFLUX_URL: `http://127.0.0.1:${influx}`,
    INFLUX_TOKEN: 't',
    CHAIN_RPC_URL: `http://127.0.0.1:${chain}`,
    SMTP_URL: `smtp://127.0.0.1:${mail}`,
  }
  // what the program itself takes depends on the machine: some 0.7 s on a quiet one
  const startsMs = (await runProgram(['doctor'], { ...env, ...nothingSet })).ms
  const { code, out, err, ms } = await runProgram(['doctor'], env)
  expect(ms - startsMs).toBeLessThan(4_000)
  expect(code).toBe(1)
  for (const name of ['NATS', 'store', 'chain', 'mail'])
    expect(out).toMatch(new RegExp(`^broken +${name} `, 'm'))
  expect(out).toContain('not checked, as NATS or the instance is not there: clock, sync, streams')
  expect(err).toMatch(/^waiting for an answer: .*store/m)
})

const nothingSet = { NATS_URL: '', INFLUX_URL: '', CHAIN_RPC_URL: '', SMTP_URL: '' }

function runProgram(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ code: number | null; out: string; err: string; ms: number }> {
  const startedMs = performance.now()
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['bin/airproof.mjs', ...args],
      { env },
      (_error, out, err) =>
        resolve({ code: child.exitCode, out, err, ms: performance.now() - startedMs }),
    )
  })
}

test.skipIf(noInflux !== undefined)(
  `what InfluxDB lacks is named: a bucket, the token, its rights, how long rows stay ${noInflux ?? ''}`,
  async () => {
    await using influx = await testInflux()
    const { url, org, bucket, token, newReadToken } = await influx.newBucket()
    const env = { INFLUX_URL: url, INFLUX_ORG: org, INFLUX_BUCKET: bucket }
    const storeOf = async (change: Env) => {
      const { findings } = await doctor({ ...env, ...change })
      return findings
        .filter(({ check }) => check === 'store')
        .map(({ level, what, fix }) => `${level} ${what}: ${fix}`)
    }
    const healthyOnes = await storeOf({ INFLUX_TOKEN: token })
    expect(healthyOnes).toEqual([expect.stringMatching(/^ok InfluxDB at .* v?2\.\d/)])
    const [first, ...others] = await storeOf({ INFLUX_TOKEN: 'wrong' })
    expect(first).toMatch(/^broken .*401.*`airproof store setup`/)
    expect(others).toHaveLength(1)
    expect(await storeOf({ INFLUX_TOKEN: await newReadToken() })).toEqual([
      expect.stringMatching(
        /^warning INFLUX_TOKEN may not write to bucket .*: `airproof store setup`/,
      ),
      expect.stringMatching(/^warning INFLUX_TOKEN may not write to bucket .*_1h; /),
    ])
    expect(await storeOf({ INFLUX_TOKEN: influx.operatorToken })).toEqual([
      expect.stringMatching(/^warning INFLUX_TOKEN may do more/),
    ])
    expect(await storeOf({ INFLUX_TOKEN: token, INFLUX_BUCKET: `${bucket}_1h` })).toContainEqual(
      expect.stringMatching(/^broken .*_1h_1h.*not found.*makes both buckets/),
    )
    const headers = { authorization: `Token ${influx.operatorToken}` }
    const listed = await fetch(`${url}/api/v2/buckets?name=${bucket}`, { headers })
    const { buckets: found } = (await listed.json()) as { buckets: { id: string }[] }
    await fetch(`${url}/api/v2/buckets/${found[0]?.id}`, {
      method: 'PATCH',
      headers,
      body: JSON.stringify({ retentionRules: [{ type: 'expire', everySeconds: 86_400 * 30 }] }),
    })
    expect(await storeOf({ INFLUX_TOKEN: token })).toEqual([
      expect.stringMatching(/^warning bucket .* deletes what is older than 30 days: .*RAW_DAYS/),
    ])
  },
)

test('a wrong setting is named once, and everything else is checked all the same', async () => {
  const { findings } = await doctor({ NATS_USER: '', SMTP_URL: 'mail.example.org' })
  const named = findings.filter(({ what }) => what.includes('NATS_PASSWORD is set'))
  expect(named.map(({ check }) => check)).toEqual(['settings'])
  const mail = findings.filter(({ what }) => what.includes('SMTP_URL must be'))
  expect(mail.map(({ check }) => check)).toEqual(['settings'])
  const checked = new Set(findings.map(({ check }) => check))
  for (const check of ['disk', 'ports', 'NATS', 'chain']) expect(checked).toContain(check)
})

test('up ends before it starts anything where a process could not read its settings', async () => {
  using folder = temporaryFolder()
  const { code, err } = await runProgram(['up'], {
    ...environment(),
    AIRPROOF_DATA: join(folder.path, 'data'),
    AIRPROOF_WEBHOOK_RATE: '0',
    AIRPROOF_QUOTA_FREE: 'many',
  })
  expect(code).toBe(2)
  expect(err).toContain('AIRPROOF_WEBHOOK_RATE (--webhook-rate) must be a whole number')
  expect(err).toContain('AIRPROOF_QUOTA_FREE')
  expect(existsSync(join(folder.path, 'data'))).toBe(false)
})

test('what up waits for is said before it starts anything', async () => {
  using folder = temporaryFolder()
  const source = {
    env: {
      AIRPROOF_DATA: folder.path,
      INFLUX_URL: `http://127.0.0.1:${await freePort()}`,
      INFLUX_TOKEN: 't',
    },
    flags: {},
  }
  const lines: string[] = []
  await checkBeforeUp({
    source,
    config: readSharedConfig(source),
    note: (line) => void lines.push(line),
    stop: new AbortController().signal,
  })
  expect(lines).toEqual([
    expect.stringMatching(/^store: InfluxDB at .*: check INFLUX_URL, and whether the server runs$/),
  ])
})
