import { expect, test, vi } from 'vitest'
import { Beat } from '../../pipeline/intake/beat.ts'

test('the first beat is at once, the next one for all partitions together and not at once', async () => {
  vi.useFakeTimers()
  try {
    const beat = new Beat(() => performance.now())
    const beats: string[] = []
    const wait = (name: string): void => void beat.next().then(() => beats.push(name))
    wait('first')
    await vi.advanceTimersByTimeAsync(0)
    expect(beats).toEqual(['first'])
    wait('a')
    await vi.advanceTimersByTimeAsync(5)
    wait('b')
    expect(beats).toEqual(['first'])
    await vi.advanceTimersByTimeAsync(5)
    expect(beats).toEqual(['first', 'a', 'b'])
    await vi.advanceTimersByTimeAsync(100)
    wait('after a pause')
    await vi.advanceTimersByTimeAsync(0)
    expect(beats.at(-1)).toBe('after a pause')
  } finally {
    vi.useRealTimers()
  }
})
