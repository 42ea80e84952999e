/** The format level, and the processes that run. */
import { Kvm } from '@nats-io/kv'
import { levelReports, processInWords } from '../../operate/format-upgrade.ts'
import { isRunning, listProcesses } from '../../runtime/machine/process-list.ts'
import { knownLevel, levelOf } from '../../runtime/nats/format-level.ts'
import { newestLevel } from '../../schemas/format-level.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { askReady, supervisorLines } from '../shell/status-local.ts'
import type { Check } from './check.ts'
import { broken, orOk, warning } from './finding.ts'

export const levelCheck: Check = {
  name: 'format level',
  needs: 'streams',
  run: async ({ nats }) => {
    const nc = await nats()
    const system = await new Kvm(nc).open(buckets.system)
    const level = knownLevel(levelOf(await system.get(systemKeys.format)))
    const processes = await levelReports(nc)
    const older = processes.filter(({ level: known }) => known === undefined || known < newestLevel)
    const raise =
      level < newestLevel
        ? [
            warning(
              `level ${level} is written, and this version knows ${newestLevel}`,
              '`airproof upgrade` raises it once every process is of this version (docs/upgrading.md)',
            ),
          ]
        : []
    return orOk(
      [
        ...older.map((process) =>
          warning(
            `${processInWords(process)} knows level ${process.level ?? 1} only`,
            'replace it with this version',
          ),
        ),
        ...raise,
      ],
      `level ${level}; ${processes.length} processes report that they know it`,
    )
  },
}

export const processesCheck: Check = {
  name: 'processes',
  needs: 'nothing',
  run: async ({ config, running }) => {
    const listed = listProcesses(config.dataFolder).filter(({ pid }) => isRunning(pid))
    const waiting = await Promise.all(
      listed.map(async ({ name, pid, admin }) => ({ name, pid, why: await askReady(admin) })),
    )
    return orOk(
      [
        ...supervisorLines(running).map((words) => broken(words)),
        ...Object.entries(running?.degraded ?? {}).map(([name, why]) =>
          broken(
            `${name} keeps ending: ${why}`,
            'the log says more; `up` starts it again by itself',
          ),
        ),
        ...waiting.flatMap(({ name, pid, why }) =>
          why === undefined ? [] : [broken(`${name} (process ${pid}) is not ready: ${why}`)],
        ),
      ],
      listed.length === 0
        ? `none runs on ${config.dataFolder}`
        : `${listed.length} of ${config.dataFolder} are ready`,
    )
  },
}
