import { expect, test } from 'vitest'
import { storeEnvironmentOf } from '../../cli/up/store-rights.ts'
import { readStoreSettings } from '../../runtime/process/config.ts'

const env = {
  INFLUX_URL: 'http://127.0.0.1:8086',
  INFLUX_TOKEN: 'writes',
  INFLUX_READ_TOKEN: 'reads',
}

test.each([
  ['pipeline', {}, 'writes'],
  ['api', {}, 'reads'],
  ['archive', {}, 'reads'],
  ['archive', { AIRPROOF_RAW_DAYS: '30' }, 'writes'],
  ['api', { INFLUX_READ_TOKEN: '' }, 'writes'],
])('under `up` %s with %o has the token that %s', (name, over, token) => {
  const all = { ...env, ...over }
  const source = { env: { ...all, ...storeEnvironmentOf(name, all) }, flags: {} }
  expect(readStoreSettings(source, '/data')).toMatchObject({ kind: 'influx', token })
})

test.each(['gate', 'notifier', 'anchor', 'dashboard', 'simulate'])(
  'under `up` %s has no token of the store, also where .env has one',
  (name) => {
    const own = { ...env, ...storeEnvironmentOf(name, env) }
    expect(readStoreSettings({ env: own, flags: {} }, '/data').kind).toBe('sqlite')
    expect(Object.values(own).join('')).toBe('')
  },
)
