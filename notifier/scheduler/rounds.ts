/** Whose turn is it? Endpoints with something due, in turn; those with something urgent first. */
import { isEmpty } from '../../core/delivery/slot-queue.ts'
import type { Endpoint } from './endpoint.ts'

export type Rounds = {
  /** To the end of its round. @returns whether anything is due for it */
  readonly enterIfDue: (endpoint: Endpoint) => boolean
  readonly leave: (endpoint: Endpoint) => void
  /** Removes and returns the endpoint whose turn it is. */
  readonly next: () => Endpoint | undefined
  readonly isEmpty: () => boolean
  readonly endpoints: () => Iterable<Endpoint>
}

export function createRounds(): Rounds {
  const urgent = new Set<Endpoint>()
  const ordinary = new Set<Endpoint>()

  const leave = (endpoint: Endpoint): void => {
    urgent.delete(endpoint)
    ordinary.delete(endpoint)
  }

  return {
    enterIfDue: (endpoint) => {
      if (!isEmpty(endpoint.urgent)) urgent.add(endpoint)
      else if (!isEmpty(endpoint.ordinary)) ordinary.add(endpoint)
      else return false
      return true
    },
    leave,
    next: () => {
      const [endpoint] = urgent.size > 0 ? urgent : ordinary
      if (endpoint !== undefined) leave(endpoint)
      return endpoint
    },
    isEmpty: () => urgent.size === 0 && ordinary.size === 0,
    endpoints: () => [...urgent, ...ordinary],
  }
}
