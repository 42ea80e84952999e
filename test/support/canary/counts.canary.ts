import { beforeAll, describe, expect, test } from 'vitest'

test('one that holds', () => expect(1).toBe(1))
test('one that does not', () => expect(1).toBe(2))
test.skipIf(true)('one that is left out', () => expect(1).toBe(2))

describe('a suite that cannot begin', () => {
  beforeAll(() => {
    throw new Error('no beginning')
  })
  test('one that never ran', () => expect(1).toBe(1))
})
