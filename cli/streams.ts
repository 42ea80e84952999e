import { exitCodes } from '../runtime/exit.ts'
import { ensureStreams } from '../runtime/nats/streams.ts'
import { tellSecretKey } from '../runtime/secrets/secret-key.ts'
import type { Command } from './shell/command.ts'
import { withInstance } from './shell/instance.ts'
import { exactWords } from './shell/words.ts'

export const command: Command = {
  summary: 'makes the streams and buckets that all processes meet on',
  help: `\
usage: airproof streams

Makes what is missing and changes nothing that is there, so it may run at any time. On a NATS server
or cluster of your own run it once as the user operator before the processes are started, and after
each upgrade: they may not make streams themselves. Give it the AIRPROOF_SECRET_FILE of the notifier,
the API and the dashboard: it writes down which key that is, and they refuse another. \`airproof up\`
does both at every start.

examples:
  NATS_URL=nats://10.0.0.5:4222 NATS_USER=operator \\
    NATS_PASSWORD_FILE=secrets/operator-password npx airproof streams
  AIRPROOF_REPLICAS=3 npx airproof streams`,
  options: { json: { type: 'boolean' } },
  run: async (context) => {
    exactWords(context.words)
    return await withInstance(context, async (nc, config) => {
      const { env, flags, print } = context
      await ensureStreams(nc, config)
      await tellSecretKey(nc, { env, flags }, config.dataFolder)
      print(
        flags['json'] === true
          ? JSON.stringify({ replicas: config.replicas })
          : 'the streams and buckets are there',
      )
      return exitCodes.done
    })
  },
}
