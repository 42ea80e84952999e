/** Texts of sensors that were asked for lately, by row and index: these many, and as many before them. */
import type { AirIndex } from '../../core/air/index/air-index.ts'

const mostSensors = 16_384

type Texts = Map<AirIndex, string>

export class KeptTexts {
  #young = new Map<number, Texts>()
  #old = new Map<number, Texts>()

  /** @param make called if there is none */
  get(row: number, index: AirIndex, make: () => string): string {
    let texts = this.#young.get(row)
    if (texts === undefined) {
      texts = this.#old.get(row) ?? new Map()
      if (this.#young.size >= mostSensors) [this.#young, this.#old] = [new Map(), this.#young]
      this.#young.set(row, texts)
    }
    let text = texts.get(index)
    if (text === undefined) {
      text = make()
      texts.set(index, text)
    }
    return text
  }

  forget(row: number): void {
    this.#young.delete(row)
    this.#old.delete(row)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }
}
