/** A client of several APIs that share one quota, and what must hold for its answers. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { eventually } from '../eventually.ts'

type Answer = { readonly status: number; readonly reset: string; readonly remaining: number }

type Client = {
  /** Asks on until every API refuses, then checks each day's answers. */
  readonly finish: () => Promise<{ readonly admitted: number; readonly unanswered: number }>
}

/** Asks each API in turn, for as long as the process runs or until `finish`. */
export function spendQuota(
  apis: readonly string[],
  { key, quota, everyMs }: { key: string; quota: number; everyMs: number },
): Client {
  const answers: Answer[] = []
  let unanswered = 0
  let isOver = false
  const ask = async (url: string): Promise<number> => {
    try {
      const { status, headers, body } = await fetch(`${url}/v1/aqi/scale`, {
        headers: { authorization: `Bearer ${key}`, connection: 'close' },
        signal: AbortSignal.timeout(15_000),
      })
      await body?.cancel()
      const [reset, remaining] = ['reset', 'remaining'].map((of) =>
        headers.get(`x-ratelimit-${of}`),
      )
      if (status === 200)
        answers.push({ status, reset: String(reset), remaining: Number(remaining) })
      // 401: a new key is not known yet, and nothing is charged; else it may have been, and the
      // answer was lost
      else if (![401, 429].includes(status)) unanswered++
      return status
    } catch {
      unanswered++
      return 0
    }
  }
  const asking = Promise.all(
    apis.map(async (url) => {
      while (!isOver) {
        await ask(url)
        await pause(everyMs)
      }
    }),
  )
  return {
    finish: async () => {
      isOver = true
      await asking
      await eventually(
        'every API refuses',
        async () => (await Promise.all(apis.map(ask))).every((status) => status === 429),
        { everyMs: 0 },
      )
      const days = [...Map.groupBy(answers, ({ reset }) => reset).values()]
      for (const ofDay of days) {
        const left = ofDay.map(({ remaining }) => remaining)
        // each number was given once, and no more than there are
        expect(new Set(left).size).toBe(left.length)
        expect(left.every((one) => one >= 0 && one < quota)).toBe(true)
      }
      // nothing was charged that was not asked for
      const today = days.at(-1) ?? []
      expect(today.length + unanswered).toBeGreaterThanOrEqual(quota)
      return { admitted: answers.length, unanswered }
    },
  }
}
