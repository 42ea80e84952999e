import { expect, test } from 'vitest'
import { mustBeDocumented } from '../support/documented-answers.ts'

const areas = { status: 'success', count: 0, areas: [] }
const brief = {
  name: 'Lagos',
  code: 'LOS',
  slug: 'lagos',
  sensors: { total: 0, online: 0, offline: 0 },
  presence: { reporting: 0, never_reported: 0 },
  last_updated: '2026-01-31T08:00:00.000Z',
}
const tag = { etag: '"x"' }
const reported = (
  value: object,
  status = 200,
  type = 'application/json',
  more: Record<string, string> = tag,
) => new Response(JSON.stringify(value), { status, headers: { 'content-type': type, ...more } })

test('an answer that the document does not have fails the test that got it', async () => {
  const judge = (answer: Response, path = '/v1/areas') => mustBeDocumented('GET', path, answer)
  await expect(judge(reported({ ...areas, network: brief }))).resolves.toBeUndefined()
  await expect(judge(reported(areas))).rejects.toThrow('network')
  const short = { ...brief, last_updated: '2026-01-31T08:00:00Z' }
  await expect(judge(reported({ ...areas, network: short }))).rejects.toThrow('last_updated')
  await expect(judge(reported(areas, 418))).rejects.toThrow('418')
  await expect(judge(reported(areas, 404))).rejects.toThrow('404')
  await expect(judge(reported(areas, 200, 'text/csv'))).rejects.toThrow('text/csv')
  await expect(judge(reported(areas, 404), '/v1/nothing')).rejects.toThrow('error')
  const whole = { ...areas, network: brief }
  await expect(judge(reported(whole, 200, 'application/json', {}))).rejects.toThrow(
    'lacks the ETag',
  )
  const verify = '/v1/readings/NGR-LOS-IKJ-001/verify'
  await expect(judge(reported(whole), verify)).rejects.toThrow('has no ETag')
})
