import { expect, test } from 'vitest'
import { testDashboard } from '../support/dashboard.ts'

test('it serves the built pages, and the same shell at every view of the browser', async () => {
  await using dashboard = await testDashboard()
  const { get } = dashboard.browser()
  for (const path of [
    '/',
    '/sensors/NGR-LOS-IKJ-001',
    '/proof/NGR-LOS-IKJ-001/2026-01-01T00:00:00Z',
    '/settings/keys',
    '/operator',
  ]) {
    const page = await get(path)
    expect([path, page.status]).toEqual([path, 200])
    expect(page.text).toContain('<div id="app">')
  }
  const style = await get('/base.css')
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')
  const again = await get('/base.css', {
    headers: { 'if-none-match': style.headers.get('etag') ?? '' },
  })
  expect(again.status).toBe(304)
  expect((await get('/assets/main-12345678.js')).headers.get('cache-control')).toMatch(/immutable/)
  const settings = await get('/settings', { redirect: 'manual' })
  expect([settings.status, settings.headers.get('location')]).toEqual([302, '/settings/keys'])
  expect((await get('/nothing')).status).toBe(404)
  // of a visitor: no error, or every visitor's console would have one
  const me = await get('/me')
  expect([me.status, JSON.parse(me.text)]).toEqual([200, { account: null }])
})
