import { exitCodes } from '../runtime/exit.ts'
import { ensureStreams } from '../runtime/nats/streams.ts'
import type { Command } from './shell/command.ts'
import { withInstance } from './shell/instance.ts'
import { exactWords } from './shell/words.ts'

export const command: Command = {
  summary: 'makes the streams and buckets that all processes meet on',
  help: `\
usage: airproof streams

Makes what is missing and changes nothing that is there, so it may run at any time. On a NATS server
or cluster of your own run it once as the user operator before the processes are started, and after
each upgrade: they may not make streams themselves. \`airproof up\` does it at every start.

examples:
  NATS_URL=nats://10.0.0.5:4222 NATS_USER=operator \\
    NATS_PASSWORD_FILE=secrets/operator-password npx airproof streams
  AIRPROOF_REPLICAS=3 npx airproof streams`,
  options: { json: { type: 'boolean' } },
  run: async (context) => {
    exactWords(context.words)
    return await withInstance(context, async (nc, config) => {
      await ensureStreams(nc, config)
      const { print, flags } = context
      print(
        flags['json'] === true
          ? JSON.stringify({ replicas: config.replicas })
          : 'the streams and buckets are there',
      )
      return exitCodes.done
    })
  },
}
