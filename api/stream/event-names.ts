/** The events of a stream: what `event:` may say. Clients pass over names that they do not know. */
export const streamEventNames = [
  'reading',
  'reading.late',
  'sensor.online',
  'sensor.offline',
  'sensor.quality',
  'gap',
  'end',
] as const

export type StreamEventName = (typeof streamEventNames)[number]
