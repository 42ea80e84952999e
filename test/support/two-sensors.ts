/** The API process with two sensors that it knows, for tests of what is sent as it is accepted. */
import { siteOf, type TestApi, testApi } from './api.ts'
import { eventually } from './eventually.ts'

export const [ikeja, yaba] = ['NGR-LOS-IKJ-001', 'NGR-LOS-YAB-002'] as const

/** @returns also a time, ten minutes ago, after which a test gives each reading its own */
export async function apiOfTwo(): Promise<{ readonly api: TestApi; readonly startMs: number }> {
  const api = await testApi()
  await api.register({ id: ikeja, sites: [siteOf('Ikeja', 6.6, 3.35)] })
  await api.register({ id: yaba, sites: [siteOf('Yaba', 6.51, 3.37)] })
  await eventually('both are known', async () => {
    const answer = await api.get(`/v1/sensors/${yaba}/status`)
    return answer.status === 200
  })
  return { api, startMs: Math.floor(Date.now() / 1_000) * 1_000 - 600_000 }
}
