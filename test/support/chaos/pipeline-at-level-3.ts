/** A pipeline that knows format level 3, started as `airproof pipeline` is. */
import { runAt } from '../../../pipeline/main.ts'
import { environment } from '../../../runtime/process/config.ts'
import { runProcess } from '../../../runtime/process/process.ts'
import { stopSignal } from '../../../runtime/process/stop-signal.ts'

process.exitCode = await runProcess({
  name: 'pipeline',
  main: runAt(3),
  source: { env: environment(), flags: {} },
  stop: stopSignal(),
})
