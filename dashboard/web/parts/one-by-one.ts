let last: Promise<void> = Promise.resolve()

/**
 * Calls one piece of long work after another, each in a task of its own: a press in between is
 * answered first.
 */
export function oneByOne(work: () => void): void {
  last = last.then(async () => {
    await new Promise((resolve) => setTimeout(resolve))
    try {
      work()
    } catch (error) {
      reportError(error)
    }
  })
}
