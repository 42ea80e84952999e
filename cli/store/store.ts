import type { Command } from '../shell/command.ts'
import { subcommand } from '../shell/words.ts'
import { copy } from './copy.ts'
import { setup } from './setup.ts'

export const command: Command = {
  summary: 'InfluxDB: buckets and tokens, and history from one store into the other',
  help: `\
usage: airproof store setup --url URL --admin-token-file FILE [--org NAME] [--bucket NAME]
                            [--secrets DIR] [--rotate [--now] | --finish] [--json]
       airproof store copy --from sqlite|influx --to influx|sqlite [--json]

setup   Makes what airproof needs in an InfluxDB 2: the bucket of readings (air) and that of
        statistics (air_1h), kept for ever, and two tokens that may do nothing else: one reads and
        writes, for the pipeline; one only reads, for the API, the archive and analysts. It writes
        the tokens into files in the data folder, readable by you alone, and the INFLUX_ settings
        into .env, where every process reads them. What is there and works stays; another value in
        .env is never written over. Run it again at any time.

  --url URL                 where InfluxDB answers, for example http://127.0.0.1:8086
  --admin-token-file FILE   a token that may make buckets and tokens; it is used here only
                            (--admin-token TOKEN: others on this machine can see it)
  --org NAME                the organisation in InfluxDB, which must be there (airproof)
  --bucket NAME             the bucket of readings (air)
  --secrets DIR             for compose and clusters: the token files go into DIR, not .env
  --rotate                  new tokens; the former ones work until --finish, so that the files
                            can be brought to processes elsewhere
  --finish                  deletes the former tokens
  --now                     with --rotate: at once, where all processes read these files

copy    Copies readings with their signatures, and hours and days of sensors and areas, from the
        store of this instance into the other one, and compares them row by row. The list of sensors
        is made again by the pipeline; refused readings are in NATS and stay there. It runs while
        the instance runs, or while it is stopped; it may be killed, and continues when it is run
        again. Then start with the other store: what came since is taken from the log, so nothing
        is lost. The former store stays as it is.

examples:
  npx airproof store setup --url http://127.0.0.1:8086 --admin-token-file influx-admin
  npx airproof store copy --from sqlite --to influx`,
  options: {
    url: { type: 'string' },
    'admin-token': { type: 'string' },
    'admin-token-file': { type: 'string' },
    org: { type: 'string' },
    bucket: { type: 'string' },
    secrets: { type: 'string' },
    rotate: { type: 'boolean' },
    now: { type: 'boolean' },
    finish: { type: 'boolean' },
    from: { type: 'string' },
    to: { type: 'string' },
    json: { type: 'boolean' },
  },
  flagsOf: {
    setup: [
      'url',
      'admin-token',
      'admin-token-file',
      'org',
      'bucket',
      'secrets',
      'rotate',
      'now',
      'finish',
      'json',
    ],
    copy: ['from', 'to', 'json'],
  },
  run: async (context) => {
    const [run] = subcommand('store', context.words, { setup, copy })
    return await run(context)
  },
}
