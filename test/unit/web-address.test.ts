/** What a page writes into its address, and reads from it. */
import fc from 'fast-check'
import { beforeAll, expect, test, vi } from 'vitest'

type AddressState = typeof import('../../dashboard/web/parts/address-state.ts')

let state: AddressState
beforeAll(async () => {
  // the module reads the browser's address when it is loaded
  vi.stubGlobal('location', { pathname: '/', search: '', href: 'http://x/' })
  state = await import('../../dashboard/web/parts/address-state.ts')
  vi.unstubAllGlobals()
})

test('a change leaves the other values, and an empty one takes its name out', () => {
  const { searchAfter } = state
  expect(searchAfter('', { area: 'ikeja' })).toBe('?area=ikeja')
  expect(searchAfter('?area=ikeja&x=1', { search: 'a b', area: '' })).toBe('?x=1&search=a+b')
  expect(searchAfter('?area=ikeja', { area: undefined })).toBe('')
  expect(searchAfter('', { at: '6.52,3.38,11' })).toBe('?at=6.52,3.38,11')
})

test('whatever is typed comes back as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      const search = state.searchAfter('?area=ikeja', { search: text })
      expect(new URLSearchParams(search).get('search')).toBe(text.toWellFormed())
      expect(new URLSearchParams(search).get('area')).toBe('ikeja')
    }),
  )
})

test('a viewport is read as written, and nonsense is none', () => {
  const { viewportOf, viewportText } = state
  expect(viewportText({ lat: 6.524_379, lon: 3.379_206, zoom: 11.5 })).toBe('6.5244,3.3792,11.5')
  expect(viewportOf('6.5244,3.3792,11.5')).toEqual({ lat: 6.5244, lon: 3.3792, zoom: 11.5 })
  for (const text of ['', '1,2', '1,2,3,4', 'a,2,3', '91,0,3', '1,2,99', ',,', '1,,3', 'NaN,1,2'])
    expect([text, viewportOf(text)]).toEqual([text, undefined])
})
