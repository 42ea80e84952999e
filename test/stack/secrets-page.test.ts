/**
 * docs/secrets.md to the letter, on a city with InfluxDB, a mail server, a chain and certificates of its
 * own, while a sensor sends: each command is run here, or is in the list below with the reason why not.
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { readKeyFile } from '../../anchor/deploy/key-file.ts'
import { command as audit } from '../../cli/audit/audit.ts'
import { command as auditLog } from '../../cli/audit-log.ts'
import { sensorIdRules } from '../../core/air/sensor-id.ts'
import { issueCredential } from '../../operate/sensor-credentials.ts'
import { createSensor, openRegistry } from '../../operate/sensor-registry.ts'
import { runTool } from '../../runtime/engines/tools.ts'
import { exitCodes } from '../../runtime/exit.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { environment } from '../../runtime/process/config.ts'
import { buckets } from '../../schemas/subjects.ts'
import { anvilAccount, testAnvil } from '../support/anvil.ts'
import { testAuthority } from '../support/certificates.ts'
import { printFigures } from '../support/chaos/figures.ts'
import { commandsOf, orLoaded } from '../support/city-pages.ts'
import { openBrowser } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'
import { influxMissing, testInflux } from '../support/influx.ts'
import { signUp } from '../support/people.ts'
import { fastSensor, sendingSensor } from '../support/rotation.ts'
import { runCommand } from '../support/run-command.ts'
import { runCity } from '../support/running-city.ts'
import { testSmtp } from '../support/smtp.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const id = 'NGR-LOS-IKE-001'
const page = 'docs/secrets.md'

const patiently = { everyMs: 250 }
/** Run by other tests, or not at all. */
const notHere: readonly (readonly [RegExp, string])[] = [
  [/access \/etc\/airproof\/secrets|^export NATS_URL/, 'three servers: rotate-cluster.test.ts'],
  [/^install -o nats/, 'needs root; rotate-cluster.test.ts copies the file'],
  [
    /^systemctl restart airproof-nats$/,
    'needs systemd; rotate-cluster.test.ts restarts the servers',
  ],
  [/^curl .*\/healthz$/, 'of a server that systemd restarted'],
]

const missing = await influxMissing()

test.skipIf(missing !== undefined)(
  `each secret is rotated by the page alone, and nothing is lost${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    using folder = temporaryFolder()
    await using resources = new AsyncDisposableStack()
    const at = (name: string): string => join(folder.path, name)
    const write = (name: string, text: string): void =>
      writeFileSync(at(name), `${text}\n`, { mode: 0o600 })
    const influx = resources.use(await testInflux())
    const anvil = resources.use(await testAnvil())
    const password = { now: 'former' }
    const smtp = resources.use(await testSmtp({ password: () => password.now }))
    const mailUrl = (secret: string): string => smtp.url.replace('//', `//user:${secret}@`)
    const authority = testAuthority(folder.path)
    for (const name of ['', 'next-']) {
      const { cert, key } = authority.issue({ name: 'localhost' })
      write(`${name}cert.pem`, cert)
      write(`${name}key.pem`, key)
    }
    write('influx-admin', influx.operatorToken)
    write('smtp-url', mailUrl(password.now))
    write('ca.crt', authority.ca)
    write(
      '.env',
      Object.entries({
        AIRPROOF_DATA: at('data'),
        AIRPROOF_TLS_CERT_FILE: at('cert.pem'),
        AIRPROOF_TLS_KEY_FILE: at('key.pem'),
        CHAIN_RPC_URL: anvil.url,
        ANCHOR_KEY_FILE: at('anchor.key'),
        ANCHOR_INTERVAL: '6s',
        SMTP_URL_FILE: at('smtp-url'),
        NODE_EXTRA_CA_CERTS: at('ca.crt'),
      })
        .map(([name, value]) => `${name}=${value}`)
        .join('\n'),
    )
    const moved = (text: string): string =>
      text
        .replaceAll('http://127.0.0.1:8086', influx.url)
        .replaceAll('smtps://user:new-password@mail.example.org', mailUrl('new-password'))
        .replaceAll('npx airproof', `${process.execPath} ${resolve('bin/airproof.mjs')}`)
    const sh = (line: string): Promise<string> =>
      runTool('sh', ['-c', `cd ${folder.path}; ${moved(line)}`], {
        env: environment(),
        timeoutMs: 120_000,
      })
    await sh('openssl rand -hex 32 > anchor.key && chmod 600 anchor.key')
    await sh('npx airproof store setup --url http://127.0.0.1:8086 --admin-token-file influx-admin')
    const start = () => runCity(at('data'), { cwd: folder.path })
    let city = await start()
    resources.defer(() => city[Symbol.asyncDispose]())
    const env = { AIRPROOF_DATA: at('data') }
    const auditEnv = {
      ...env,
      CHAIN_RPC_URL: anvil.url,
      INFLUX_URL: influx.url,
      INFLUX_TOKEN_FILE: at('data/influx-read-token'),
    }
    const operator = async () => {
      const { nats, nats_operator: natsLogin, nats_pin: natsPinFile } = city.instance
      return await connectNats({ natsUrl: nats, natsLogin, natsPinFile }, { name: 'test' })
    }
    const nc = await operator()
    resources.defer(() => nc.close())
    await createSensor(await openRegistry(nc, sensorIdRules()), fastSensor(id))
    const credentials = await new Kvm(nc).open(buckets.credentials)
    const credential = await issueCredential(credentials, id, { nowMs: Date.now() })
    const url = city.instance.nats.replace('127.0.0.1', 'localhost')
    const load = resources.use(await sendingSensor(url, id, credential, { ca: authority.ca }))
    const goesOn = async (): Promise<void> => {
      const enough = load.sent() + 10
      await eventually('readings go on', () => load.sent() > enough, patiently)
    }
    const fund = async (file: string): Promise<void> =>
      void (await anvil.rpc('anvil_setBalance', [
        readKeyFile(at(file)).address,
        '0xde0b6b3a7640000',
      ]))
    await fund('anchor.key')
    const owner = anvilAccount(1).address
    await sh(`npx airproof anchor deploy --owner ${owner}`)
    await goesOn()

    const browser = () => openBrowser(city.instance.dashboard ?? '')
    const mailArrives = async (email: string): Promise<void> => {
      expect((await signUp(browser(), { email })).status).toBe(200)
      await smtp.mailTo(email)
    }
    await mailArrives('before@example.org')
    const printed = new Map<string, string>()
    let next = ''
    /** What the page has the operator do after the command. */
    const then: Readonly<Record<string, () => Promise<void>>> = {
      'ANCHOR_KEY_FILE=next.key npx airproof anchor writer': async () => {
        await fund('next.key')
        next = readKeyFile(at('next.key')).address
      },
      'npx airproof anchor writer --set 0x…': async () => {
        const text = printed.get('npx airproof anchor writer --set 0x…') ?? ''
        const { to, data } = Object.fromEntries(text.split('\n').map((one) => one.split(/ +/)))
        await city.child.stop()
        await anvil.rpc('eth_sendTransaction', [{ from: owner, to, data }])
        await anvil.rpc('anvil_mine', ['0x80'])
      },
      'mv next.key anchor.key': async () => {
        city = await start()
      },
    }
    /** As the page says, a command that ends with 75 is run again. */
    const orTryAgain = (line: string): Promise<string | undefined> =>
      orLoaded(sh(line)).catch(async (error: unknown) => {
        if (!(error instanceof Error && 'code' in error && error.code === exitCodes.tryAgain))
          throw error
        await anvil.rpc('anvil_mine', ['0x80'])
        return undefined
      })
    const seconds: Record<string, number> = {}
    for (const line of commandsOf(page)) {
      if (notHere.some(([pattern]) => pattern.test(line))) continue
      const isMail = line.startsWith('cat > smtp-url')
      if (isMail) {
        password.now = 'new-password'
        // refused with the former password, and sent again with the new one
        await signUp(browser(), { email: 'meanwhile@example.org' })
      }
      const startMs = performance.now()
      printed.set(
        line,
        await eventually(line, () => orTryAgain(line.replace('0x…', next)), patiently),
      )
      await then[line]?.()
      seconds[line.split('\n')[0] ?? ''] = Math.round((performance.now() - startMs) / 100) / 10
      // the page has it stopped there
      if (city.child.isAlive()) await goesOn()
      if (isMail) await smtp.mailTo('meanwhile@example.org')
    }
    const roles = printed.get('npx airproof anchor writer') ?? ''
    expect(roles.match(/^(?:writer|key) +(\S+)$/gm)).toHaveLength(2)
    expect(roles.toLowerCase().split(next.toLowerCase())).toHaveLength(3)
    const findings = printed.get('npx airproof doctor')
    expect(findings).toMatch(/^ok +rotations +no secret is half rotated$/m)
    expect(findings).toMatch(/^ok +mail /m)
    await mailArrives('after@example.org')

    const log = await runCommand(auditLog, { env, flags: { json: true } })
    const did = log.out.split('\n').map((one) => JSON.parse(one) as { what: string; who: string })
    expect(new Set(did.map(({ what }) => what))).toEqual(
      new Set(['access', 'store setup', 'anchor deploy', 'anchor writer', 'anchor resync']),
    )
    expect(did.filter(({ who }) => !who.includes('@'))).toEqual([])
    expect(log.out).not.toContain(influx.operatorToken)
    const sent = await load.check(nc)
    const report = await eventually(
      'all is anchored by the new key, and the audit is green',
      async () => {
        await anvil.rpc('anvil_mine', ['0x80'])
        const { code, out } = await runCommand(audit, { flags: { json: true }, env: auditEnv })
        const { rows } = JSON.parse(out) as { rows: { fit: number; not_anchored: number } }
        return code === 0 && rows.not_anchored === 0 && rows
      },
      { everyMs: 1_000 },
    )
    expect(report.fit).toBe(sent)
    printFigures('secrets', { sent, seconds })
  },
  900_000,
)
