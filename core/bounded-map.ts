/** At most `most` entries: setting one more evicts the one that was set the longest time ago. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number
  /**
   * Goes on from the last one evicted. A new iterator would go through all that was deleted since the map was last
   * compacted: with 100,000 entries that is most of what a set costs.
   */
  #oldest: MapIterator<K>

  constructor(most: number) {
    super()
    this.#most = most
    this.#oldest = this.keys()
  }

  override set(key: K, value: V): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > this.#most) this.#evict()
    return this
  }

  #evict(): void {
    let next = this.#oldest.next()
    if (next.done) {
      this.#oldest = this.keys()
      next = this.#oldest.next()
    }
    if (!next.done) this.delete(next.value)
  }
}
