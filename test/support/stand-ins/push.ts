/**
 * The gate's HTTP push as its own process, to be killed.
 * Usage: push.ts NATS_URL DATA_FOLDER; prints its URL.
 */
import { Registry } from 'prom-client'
import { openLog } from '../../../runtime/log.ts'
import { connectNats } from '../../../runtime/nats/nats.ts'
import { stopped, stopSignal } from '../../../runtime/process/stop-signal.ts'
import { openTestPush } from '../push.ts'

const [natsUrl = '', dataFolder = ''] = process.argv.slice(2)
const nc = await connectNats({ natsUrl }, { name: 'gate' })
await using push = await openTestPush(nc, {
  dataFolder,
  registry: new Registry(),
  log: openLog({ name: 'gate', level: 'silent' }),
  spoolMaxBytes: 1024 * 1024,
})
process.stdout.write(`${push.url}\n`)
await stopped(stopSignal())
await nc.close()
