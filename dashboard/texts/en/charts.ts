/** Texts of charts. Where a text has values, it is a function. */
export const charts = {
  title: 'History',
  period: {
    label: 'Period',
    spans: { '24h': '24 hours', '7d': '7 days', '30d': '30 days', '1y': 'Year' },
    dates: 'Dates',
    from: 'From',
    to: 'To',
    show: 'Show',
    earlier: 'Earlier',
    later: 'Later',
    newest: 'Newest',
  },
  zone: {
    label: 'Time zone',
    choices: { network: 'Network', mine: 'Mine', utc: 'UTC' },
    /** Beside the period: `Lagos, UTC+1`. */
    times: (zone: string) => `Times in ${zone}`,
  },
  aqi: 'Air quality index',
  aqiUnit: 'US AQI',
  steps: {
    '10_minutes': 'Averages of 10 minutes; the band shows the lowest and highest reading.',
    hour: 'Hourly averages; the band shows the lowest and highest reading.',
    '3_hours': 'Averages of 3 hours; the band shows the lowest and highest reading.',
    day: 'Daily averages; the band shows the lowest and highest reading.',
    month: 'Monthly averages; the band shows the lowest and highest reading.',
  },
  /** Beside a period of which only the end has data. */
  begins: (time: string) => `The data begins on ${time}.`,
  who: (value: string) => `WHO 24-hour guideline ${value}`,
  bands: {
    good: 'Good',
    moderate: 'Moderate',
    unhealthy_sensitive: 'Sensitive groups',
    unhealthy: 'Unhealthy',
    very_unhealthy: 'Very unhealthy',
    hazardous: 'Hazardous',
  },
  loading: 'Loading the history…',
  empty: 'No data in this period',
  emptyHint: (date: string) => `The newest reading is of ${date}.`,
  emptyNever: 'Charts appear with the first reading.',
  /** For screen readers instead of a picture. */
  summary: (name: string, mean: string, low: string, high: string, unit: string) =>
    `${name}: ${mean} ${unit} on average, from ${low} to ${high}.`.replaceAll('  ', ' '),
  use: 'Left and right arrow keys move through time.',
  range: (low: string, high: string) => `${low} to ${high}`,
  /** Beside a chart's title. */
  extent: (mean: string, low: string, high: string) => `average ${mean} · ${low} to ${high}`,
  none: 'no data',
  table: {
    show: 'Show as a table',
    caption: 'Average of each step, with the lowest and highest reading',
    from: 'From',
    average: (name: string) => `${name}, average`,
    range: (name: string) => `${name}, range`,
  },
  heard: {
    label: 'When data came in',
    all: (count: number, step: string) => `Data in all ${count} ${step}.`,
    some: (heard: number, count: number, step: string) =>
      `Data in ${heard} of ${count} ${step}. Red: no data.`,
    since: 'Grey: before the sensor was set up, or after it was taken out.',
    parts: {
      '10_minutes': 'ten-minute steps',
      hour: 'hours',
      '3_hours': 'three-hour steps',
      day: 'days',
      month: 'months',
      part: 'parts of this period',
    },
  },
  download: {
    label: 'Download what is shown',
    csv: 'CSV',
    csvOf: (sensor: string) => `CSV of ${sensor}`,
    png: 'Picture (PNG)',
    source: (network: string, address: string) => `Source: ${network}, ${address}`,
    licence: (licence: string) => `Licence: ${licence}`,
    noLicence: 'Licence: ask the operator',
  },
  compare: {
    title: 'Compare',
    hint: { sensor: 'Up to three other sensors', area: 'Up to three others' },
    add: 'Add',
    label: { sensor: 'Sensor to compare with', area: 'Place to compare with' },
    remove: (name: string) => `Remove ${name}`,
    unknown: {
      sensor: (name: string) => `There is no sensor ${name}.`,
      area: (name: string) => `There is no area ${name}.`,
    },
    failed: (name: string) => `The data of ${name} did not load.`,
    full: 'Four can be compared at once.',
  },
  calendar: {
    title: 'Day by day',
    hint: 'The average index of each day of the last year with data.',
    caption: (month: string) => `Average index of the days of ${month}`,
    empty: 'A calendar appears after the first whole day of data.',
  },
  pattern: {
    title: 'A usual week',
    hint: (weeks: string) => `The average index of each hour of the week, over ${weeks}.`,
    weeks: '12 weeks',
    caption: 'Average index by weekday and hour',
    hour: 'Hour',
    worst: (day: string, hour: string, aqi: string) => `Highest on ${day} around ${hour} (${aqi}).`,
    best: (day: string, hour: string, aqi: string) => `Lowest on ${day} around ${hour} (${aqi}).`,
    weekdays: {
      monday: 'Monday',
      tuesday: 'Tuesday',
      wednesday: 'Wednesday',
      thursday: 'Thursday',
      friday: 'Friday',
      saturday: 'Saturday',
      sunday: 'Sunday',
    },
    empty: 'A pattern appears after some days of data.',
  },
}

export type ChartsTexts = typeof charts
