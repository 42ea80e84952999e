import { takeStore } from '../../operate/store-copy.ts'
import { exitCodes, WrongUsage } from '../../runtime/exit.ts'
import { openTlsFiles, type TlsFiles } from '../../runtime/http/tls-files.ts'
import { type Logger, openLog } from '../../runtime/log.ts'
import { placeOf } from '../../runtime/machine/store-place.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { readSharedConfig } from '../../runtime/process/config.ts'
import { openSecretBox } from '../../runtime/secrets/secret-key.ts'
import { type Environment, readSettings, type SettingsSource } from '../../runtime/settings.ts'
import { checkBeforeUp } from '../doctor/check-before-up.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { storeFlags, withFlags } from '../shell/shared-flags.ts'
import { ensureBuiltPages } from './built-pages.ts'
import { openUpChain } from './chain.ts'
import { openCity } from './city.ts'
import { ensureDemoAccount } from './demo-account.ts'
import { openUpOutput } from './output.ts'
import { ourProcess, type ProcessSpec } from './process.ts'
import { raiseWhenAllKnow } from './raise-level.ts'
import { restartOnChange } from './watch.ts'
import { near, printWelcome } from './welcome.ts'

export const command: Command = {
  summary: 'everything on this machine, under one supervisor',
  help: `\
usage: airproof up [--demo N] [--data DIR] [--api-port N] [--nats-port N]
                   [--dashboard-port N] [--mqtt-port N] [--push-port N] [--admin-port N]
                   [--listen ADDRESS] [--tls-cert-file FILE --tls-key-file FILE] [--watch]

Starts a NATS server (or uses NATS_URL), a chain to anchor to (anvil, or CHAIN_RPC_URL), the
pipeline, the anchor, the gate (sensors' sign-in, MQTT and HTTP), the API and the dashboard, and
starts again what dies.
When everything answers it writes ready.json into the data folder and prints the addresses, an
API key and lines to try. Ctrl-C stops all of it in order; the next start continues with the same
data. Everything listens on this machine alone, unless --listen says otherwise.

  --demo N            N simulated sensors of your city that publish over NATS like any sensor
  --data DIR          where the data live (default .airproof)
  --api-port N        default 8080; 0: any free port
  --nats-port N       of the NATS server it starts; default that of the last start on this
                      data folder, a free one at the first; 0: any free port
  --dashboard-port N  default 8081; 0: any free port
  --mqtt-port N       where MQTT devices sign in; default 1883, or any free port while that is
                      taken; 0: any free port; kept for the next start, as the next one
  --push-port N       where firmware posts to over HTTP; default 8082, in the same way
  --admin-port N      /health, /ready and /metrics of our processes: the first of seven ports that
                      follow one another; default 9480, in the same way; 0: any free ports
  --listen ADDRESS    listen there, 0.0.0.0 for every address, instead of only on this machine
  --tls-cert-file F, --tls-key-file F
                      NATS, MQTT and the HTTP push speak TLS; read again when they change
  --store-changed     readings may go into another store than at the last start: their history
                      stays in the old one
  --watch             build the pages and start the processes again when a source file changes

examples:
  npx airproof up --demo 40
  npx airproof up --data /srv/air --api-port 9000
  NATS_URL=nats://10.0.0.5:4222 npx airproof up`,
  isLasting: true,
  options: {
    demo: { type: 'string' },
    'api-port': { type: 'string' },
    'nats-port': { type: 'string' },
    'dashboard-port': { type: 'string' },
    'mqtt-port': { type: 'string' },
    'push-port': { type: 'string' },
    listen: { type: 'string' },
    'tls-cert-file': { type: 'string' },
    'tls-key-file': { type: 'string' },
    watch: { type: 'boolean' },
    ...storeFlags,
  },
  run,
}

async function run(context: CommandContext): Promise<number> {
  const { env, flags, words, print, isTerminal, stop } = context
  if (words.length > 0)
    throw new WrongUsage(`up takes flags only, and there is "${words.join(' ')}"`)
  const config = readSharedConfig({ env, flags })
  const { dataFolder, natsCreds, natsLogin, logLevel, replicas } = config
  const settings = readUpSettings({ env, flags })
  using output = openUpOutput({
    isTerminal,
    write: (text) => void process.stdout.write(text),
    holdsBack: logLevel !== 'debug' && logLevel !== 'trace',
  })
  const { note } = output.progress
  const logOf = (name: string): Logger => openLog({ name, level: logLevel, to: output.log })
  const log = logOf('up')
  try {
    // not the instance that a killed one of us left on the folder
    const before = { ...config, natsUrl: settings.natsUrl }
    await checkBeforeUp({ source: { env, flags }, config: before, note, stop })
    const buildPages = (): Promise<void> => ensureBuiltPages({ env, note })
    await buildPages()
    using tls = openTlsFiles({ env, flags })
    await using city = await openCity({
      dataFolder,
      natsCreds,
      natsLogin,
      tls,
      ...settings,
      store: placeOf(config.store),
      processes: processesFor(settings.demoSensors),
      identify: async (nats) => {
        await ensureStreams(nats, { replicas })
        await openSecretBox(nats, { env, flags }, dataFolder)
        const former = await takeStore(nats, config)
        if (former !== undefined) note(former)
        return await ensureDemoAccount(nats, dataFolder)
      },
      openChain: (opening) =>
        openUpChain({ ...opening, ...settings, dataFolder, env, log: logOf('anvil'), note, stop }),
      env: { ...withFlags(env, flags), ...tlsEnvironment(tls) },
      log,
      output,
      stop,
    })
    output.isUp(dataFolder)
    printWelcome(
      city.instance,
      { dataFolder, listen: settings.listen, isOwnChain: settings.rpcUrl === undefined, env },
      print,
    )
    if (flags['watch'] === true) restartOnChange(city.running, { log, stop, buildPages })
    void raiseWhenAllKnow(city.nats, { log, stop })
    await city.untilStop()
    note('stopping')
    output.isStopping()
  } catch (error) {
    output.hasFailed()
    // Stopped before it was up, which ended the waiting.
    if (!stop.aborted) throw error
  }
  const next = env['npm_lifecycle_event'] === 'start' ? '`npm start`' : '`airproof up`'
  print(`stopped; the data are in ${near(dataFolder)}, ${next} continues with them`)
  return exitCodes.done
}

function readUpSettings(source: SettingsSource): {
  readonly natsUrl: string | undefined
  readonly apiPort: number
  readonly dashboardPort: number
  readonly natsPort: number | undefined
  readonly mqttPort: number | undefined
  readonly pushPort: number | undefined
  readonly adminPort: number | undefined
  readonly listen: string | undefined
  readonly demoSensors: number
  readonly rpcUrl: string | undefined
} {
  const settings = readSettings(source)
  return {
    // Not the shared one: that falls back on the instance that runs here, which is us.
    natsUrl: settings.url('NATS_URL'),
    apiPort: settings.port('AIRPROOF_API_PORT'),
    dashboardPort: settings.port('AIRPROOF_DASHBOARD_PORT'),
    natsPort: settings.port('AIRPROOF_NATS_PORT'),
    mqttPort: settings.port('AIRPROOF_MQTT_PORT'),
    pushPort: settings.port('AIRPROOF_PUSH_PORT'),
    adminPort: settings.port('AIRPROOF_ADMIN_PORT'),
    listen: settings.text('AIRPROOF_LISTEN'),
    rpcUrl: settings.url('CHAIN_RPC_URL')?.split(',')[0]?.trim(),
    demoSensors: settings.int('AIRPROOF_DEMO'),
  }
}

const tlsEnvironment = (tls: TlsFiles | undefined): Environment =>
  tls === undefined
    ? {}
    : {
        AIRPROOF_TLS_CERT_FILE: tls.files.certFile,
        AIRPROOF_TLS_KEY_FILE: tls.files.keyFile,
      }

function processesFor(demoSensors: number): ProcessSpec[] {
  const processes = ['pipeline', 'notifier', 'gate', 'api', 'dashboard', 'archive'].map((name) =>
    ourProcess(name),
  )
  if (demoSensors === 0) return processes
  const sensors = ourProcess('simulate', '--demo', String(demoSensors))
  return [...processes, { ...sensors, hasAdmin: false }]
}
