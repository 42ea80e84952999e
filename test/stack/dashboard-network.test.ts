/** What the dashboard says of the network to anyone: its own file, its chain, and a sensor's code. */
import { Kvm } from '@nats-io/kv'
import qrcode from 'qrcode-generator'
import { expect, test } from 'vitest'
import { deploymentKey } from '../../schemas/anchoring/batch-record.ts'
import { buckets } from '../../schemas/subjects.ts'
import { testApi } from '../support/api.ts'
import { testDashboard } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'

const wellKnown = '/.well-known/airproof.json'
const deployment = (chainId: number) =>
  JSON.stringify({
    chainId,
    genesisHash: `0x${'1'.repeat(64)}`,
    contract: `0x${'2'.repeat(40)}`,
    block: 5,
  })

test('the network is what the API says it is, asked once for many visitors, and never made up', async () => {
  await using api = await testApi({ env: { AIRPROOF_OPEN_PROOFS_PER_MINUTE: '10' } })
  await using dashboard = await testDashboard({
    nats: api.nats,
    env: { AIRPROOF_API_URL: api.url },
  })
  const { get } = dashboard.browser()
  // more than the API gives to one address
  const answers = await Promise.all(Array.from({ length: 30 }, () => get(wellKnown)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const [first] = answers
  expect(JSON.parse(first?.text ?? '')).toMatchObject({
    format: 'airproof.network.v1',
    name: 'Lagos',
    api: api.url,
    chain: null,
  })
  const etag = first?.headers.get('etag') ?? ''
  const again = await get(wellKnown, { headers: { 'if-none-match': etag } })
  expect([again.status, again.text]).toEqual([304, ''])
  await api.stopApi()
  await dashboard.stop()
  await dashboard.start()
  expect((await get(wellKnown)).status).toBe(503)
})

test('pages learn that the chain is a demonstration chain, and that it is not', async () => {
  await using dashboard = await testDashboard()
  const { get } = dashboard.browser()
  const printed = async (): Promise<boolean> =>
    (JSON.parse((await get('/config.json')).text) as { demonstration: boolean }).demonstration
  expect(await printed()).toBe(false)
  const kv = await new Kvm(dashboard.nc).open(buckets.anchoring)
  await kv.put(deploymentKey, deployment(31_337))
  await eventually('it is a demonstration chain', printed)
  await kv.put(deploymentKey, deployment(10))
  await eventually('it is a public chain', async () => !(await printed()))
})

test('a sensor has a QR code of its page, within a limit for each network', async () => {
  await using dashboard = await testDashboard({
    env: { AIRPROOF_DASHBOARD_URL: 'https://city.example' },
  })
  const { get } = dashboard.browser()
  const code = qrcode(0, 'Q')
  code.addData('https://city.example/sensors/NGR-LOS-IKJ-001')
  code.make()
  const { text, headers } = await get('/sensors/NGR-LOS-IKJ-001/qr.svg')
  expect(text).toBe(code.createSvgTag({ scalable: true }))
  expect(headers.get('content-type')).toMatch(/^image\/svg\+xml/)
  // whatever an id is made of, it is only ever drawn
  const odd = await get(`/sensors/${encodeURIComponent('<script>"&')}/qr.svg`)
  expect([odd.status, odd.text.includes('script')]).toEqual([200, false])
  expect((await get(`/sensors/${'x'.repeat(65)}/qr.svg`)).status).toBe(404)
  expect((await get(`/sensors/${encodeURIComponent('界'.repeat(64))}/qr.svg`)).status).toBe(200)
  const many = await Promise.all(
    Array.from({ length: 40 }, (_, n) => get(`/sensors/NGR-LOS-IKJ-${n}/qr.svg`)),
  )
  expect(new Set(many.map(({ status }) => status))).toEqual(new Set([200, 429]))
})

test('a proof has a QR code of the link that is handed on, and of nothing else', async () => {
  await using dashboard = await testDashboard({
    env: {
      AIRPROOF_DASHBOARD_URL: 'https://air.example',
      AIRPROOF_PUBLIC_URL: 'https://api.example',
    },
  })
  const { get } = dashboard.browser()
  const hash = `0x${'12'.repeat(32)}`
  const code = qrcode(0, 'Q')
  code.addData(
    `https://air.example/proof/NGR-LOS-IKJ-001/2026-01-01T00%3A07%3A01.000Z?hash=${hash}`,
  )
  code.make()
  const path = '/proof/NGR-LOS-IKJ-001/2026-01-01T00:07:01Z/qr.svg'
  const { text, headers } = await get(`${path}?hash=${hash}`)
  expect(text).toBe(code.createSvgTag({ scalable: true }))
  expect(headers.get('content-type')).toMatch(/^image\/svg\+xml/)
  for (const wrong of [path, `${path}?hash=0x12`, `${path}?hash=${hash}&hash=${hash}`])
    expect([wrong, (await get(wrong)).status]).toEqual([wrong, 404])
  expect((await get(`/proof/NGR-LOS-IKJ-001/yesterday/qr.svg?hash=${hash}`)).status).toBe(404)
})

test('only the worker that asks a node may ask another server, and it may do nothing else', async () => {
  await using dashboard = await testDashboard()
  const { get } = dashboard.browser()
  const worker = (await get('/ask-node.js')).headers.get('content-security-policy')
  expect(worker).toBe(
    "default-src 'none'; script-src 'self'; connect-src https: http://127.0.0.1:* http://localhost:*",
  )
  for (const path of ['/', '/proof', '/airproof-verify.js']) {
    const policy = (await get(path)).headers.get('content-security-policy') ?? ''
    expect([path, policy.includes("connect-src 'self';")]).toEqual([path, true])
  }
})
