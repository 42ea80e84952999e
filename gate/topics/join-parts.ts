/**
 * ESPHome sends one number per topic. What a device sends within a window becomes one reading, at
 * the time of the first number; a quantity that arrives a second time begins the next. A window
 * ends with a later number of the device, or by our own clock. The numbers of an open window are
 * acknowledged with its reading, so after a crash they are delivered again.
 */
import { type QuantityName, quantityNames } from '../../core/air/quantities.ts'

export type Part<Token> = {
  readonly sensor: string
  readonly quantity: QuantityName
  readonly value: number
  /** When the broker stored it, ms since the epoch. */
  readonly timeMs: number
  /** What is to be acknowledged. */
  readonly token: Token
}

export type Joined<Token> = {
  readonly sensor: string
  readonly fields: { readonly [Name in QuantityName]?: number }
  readonly timeMs: number
  readonly tokens: readonly Token[]
}

export type Joiner<Token> = {
  /** @returns the readings that are complete by it  @param nowMs a clock that never goes back */
  readonly take: (part: Part<Token>, nowMs: number) => readonly Joined<Token>[]
  /** Readings whose window is over by our clock. */
  readonly due: (nowMs: number) => readonly Joined<Token>[]
  /** The parts of open windows, which will not be completed here. */
  readonly abandon: () => readonly Token[]
}

type Open<Token> = {
  readonly fields: { [Name in QuantityName]?: number }
  readonly timeMs: number
  readonly openedMs: number
  readonly tokens: Token[]
}

export function createJoiner<Token>({
  windowMs = 10_000,
  most = 20_000,
}: {
  readonly windowMs?: number
  /** Open windows at once; beyond, the oldest is closed early. */
  readonly most?: number
} = {}): Joiner<Token> {
  /** In the order they were opened. */
  const windows = new Map<string, Open<Token>>()

  const close = (sensor: string): Joined<Token>[] => {
    const open = windows.get(sensor)
    windows.delete(sensor)
    if (open === undefined) return []
    return [{ sensor, fields: open.fields, timeMs: open.timeMs, tokens: open.tokens }]
  }
  const oldest = (): [string, Open<Token>] | undefined => windows.entries().next().value

  return {
    take({ sensor, quantity, value, timeMs, token }, nowMs) {
      const closed: Joined<Token>[] = []
      const before = windows.get(sensor)
      const isOver =
        before !== undefined &&
        (before.fields[quantity] !== undefined || Math.abs(timeMs - before.timeMs) > windowMs)
      if (isOver) closed.push(...close(sensor))
      const open = windows.get(sensor) ?? { fields: {}, timeMs, openedMs: nowMs, tokens: [] }
      open.fields[quantity] = value
      open.tokens.push(token)
      windows.set(sensor, open)
      if (windows.size > most) closed.push(...close(oldest()?.[0] ?? sensor))
      // nothing is missing
      if (quantityNames.every((name) => open.fields[name] !== undefined))
        closed.push(...close(sensor))
      return closed
    },
    due(nowMs) {
      const closed: Joined<Token>[] = []
      for (let first = oldest(); first !== undefined; first = oldest()) {
        const [sensor, { openedMs }] = first
        if (nowMs - openedMs < windowMs) break
        closed.push(...close(sensor))
      }
      return closed
    },
    abandon() {
      const tokens = [...windows.values()].flatMap((open) => open.tokens)
      windows.clear()
      return tokens
    },
  }
}
