/** The page of a sensor, but for its charts and its headline. */

export const sensor = {
  city: 'City',
  where: 'Where it is',
  unknown: 'There is no such sensor',
  unknownWhy: (id: string) =>
    `No sensor of this network has the id ${id}. Check how it is spelt, or look for the place in the list of the city.`,
  severalWhy: (id: string) => `Several sensors have the short id ${id}. Use one of the whole ids:`,
  lastReading: 'Last reading',
  ofThisReading: 'Index of this reading',
  ofThisReadingHint:
    'US EPA defines the index for averages, so that of one reading is a rough indication.',
  noIndex: 'No particles were measured, so there is no index.',
  beyond: 'The air is worse than the index can say.',
  asMeasured: 'as measured',
  corrected: 'corrected (US EPA 2021)',
  notMeasured: 'not measured',
  averages: 'Averages',
  nowcast: 'NowCast, 12 hours',
  dayIndex: '24-hour AQI',
  uptime: 'Uptime, 24 hours',
  uptimeSince: (length: string) => `Uptime, ${length} since it was set up`,
  tooFew: 'Not enough data yet',
  quality: 'Quality',
  qualityLabel: 'What was noticed about these values',
  seeProof: 'See the proof',
  whySilent: 'Exact reason, and what to do',
  qr: 'QR code of this page',
  qrHint: 'This page, to print and put on the sensor',
}

export type SensorTexts = typeof sensor
