import { afterAll } from 'vitest'
import { influxMissing, type TestInflux, testInflux } from '../support/influx.ts'
import { storeContract } from './store-contract.ts'

const missing = await influxMissing()

/** One server for this file, started by the first test that needs it. */
let server: Promise<TestInflux> | undefined
const influx = (): Promise<TestInflux> => (server ??= testInflux())
afterAll(async () => (await server)?.[Symbol.asyncDispose]())

storeContract(
  'the InfluxDB store',
  async () => {
    const { open } = await (await influx()).newBucket()
    return { open: async () => open(), [Symbol.asyncDispose]: async () => undefined }
  },
  missing,
)
