import { exitCodes } from '../runtime/exit.ts'
import { differenceInWords } from '../runtime/nats/streams/compare-streams.ts'
import { compareStreams, ensureStreams, type StreamWork } from '../runtime/nats/streams/streams.ts'
import { writeKeyFingerprint } from '../runtime/secrets/secret-key.ts'
import type { Command } from './shell/command.ts'
import { withInstance } from './shell/instance.ts'
import { exactWords } from './shell/words.ts'

export const command: Command = {
  summary: 'makes the streams and buckets of all processes, or brings them up to date',
  help: `\
usage: airproof streams [--dry-run] [--json]

Makes what is missing, brings what an older version made up to date, and names what it changed and
what the server cannot change. A bound that you chose yourself (\`nats stream edit\`) stays. It may
run at any time. On a NATS server or cluster of your own run it once as the user operator before
the processes are started, and before they are replaced by a newer version: they may not do it
themselves. Give it the AIRPROOF_SECRET_FILE of the notifier, the API and the dashboard: it writes
down which key that is, and they refuse another. \`airproof up\` does both at every start.

  --dry-run   say what would be made and changed, and do nothing
  --json      the same as one line of JSON

examples:
  NATS_URL=nats://10.0.0.5:4222 NATS_USER=operator \\
    NATS_PASSWORD_FILE=secrets/operator-password npx airproof streams --dry-run
  AIRPROOF_REPLICAS=3 npx airproof streams`,
  options: { 'dry-run': { type: 'boolean' }, json: { type: 'boolean' } },
  run: async (context) => {
    exactWords(context.words)
    const { print, flags } = context
    const isDryRun = flags['dry-run'] === true
    return await withInstance(context, async (nc, config) => {
      const work = await (isDryRun ? compareStreams : ensureStreams)(nc, config)
      if (!isDryRun) await writeKeyFingerprint(nc, { env: context.env, flags }, config.dataFolder)
      if (flags['json'] === true) print(JSON.stringify({ replicas: config.replicas, ...work }))
      else for (const line of linesOf(work, isDryRun)) print(line)
      return exitCodes.done
    })
  },
}

const linesOf = ({ made, differences }: StreamWork, isDryRun: boolean): readonly string[] => [
  ...made.map((name) => `${name}: ${isDryRun ? 'is missing' : 'made'}`),
  ...differences.map(differenceInWords),
  isDryRun ? 'nothing was changed' : 'the streams and buckets are there',
]
