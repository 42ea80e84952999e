/**
 * A supervisor with stand-ins for our processes, over a real nats-server.
 * Usage: up.ts DATA_FOLDER JOURNAL API_PORT NAME...
 */
import { openCity } from '../../../cli/up/city.ts'
import { openUpOutput } from '../../../cli/up/output.ts'
import { exitCodeOf, inWords } from '../../../runtime/exit.ts'
import { openLog } from '../../../runtime/log.ts'
import { environment } from '../../../runtime/process/config.ts'
import { stopSignal } from '../../../runtime/process/stop-signal.ts'
import { standIn } from './spec.ts'

const [dataFolder = '', journal = '', apiPort = '0', ...names] = process.argv.slice(2)
const output = openUpOutput({
  isTerminal: false,
  write: (text) => void process.stdout.write(text),
  holdsBack: true,
})
try {
  await using city = await openCity({
    dataFolder,
    natsUrl: undefined,
    natsCreds: undefined,
    apiPort: Number(apiPort),
    adminPort: 0,
    // a process of that name keeps exiting before it is ready
    processes: names.map((name) => ({
      ...standIn(name, journal, name === 'tired' ? 75 : undefined),
      hasAdmin: true,
    })),
    identify: async () => ({ account: { email: 'a@b.example', password: 'p' }, key: 'k' }),
    env: environment(),
    log: openLog({ name: 'up', level: 'warn', to: output.log }),
    output,
    stop: stopSignal(),
  })
  await city.untilStop()
} catch (error) {
  console.error(`airproof: ${inWords(error)}`)
  process.exitCode = exitCodeOf(error)
}
