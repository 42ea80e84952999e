/** The answer first: headline, advice and what is around it on the city, an area and a sensor. */

export const city = {
  /** Of the city's page, and of `/areas/{slug}`. */
  title: (place: string) => `Air in ${place} now`,
  /** A description of a page for search engines and messengers. */
  about: (place: string) => `How the air is in ${place} now, over time, and provable.`,
  index: 'US AQI',
  basis: {
    nowcast: 'NowCast of the last 12 hours',
    ten_minutes: '10-minute mean: not enough data for NowCast yet',
  },
  measured: 'From values as measured, not corrected',
  mainPollutant: (name: string) => `Main pollutant: ${name}`,
  /** Our own sentences after US EPA's guidance for particle pollution; docs/places.md. */
  advice: {
    good: 'Enjoy the outdoors: nobody needs to hold back.',
    moderate:
      'Fine for most people. If particles trouble you more than others, make effort outdoors shorter and lighter, and watch for coughing or shortness of breath.',
    unhealthy_sensitive:
      'Children, older people and anyone with heart or lung disease: keep exercise outdoors short and light. Everyone else can go on as usual.',
    unhealthy:
      'Everyone: cut down on long or hard effort outdoors. Children, older people and anyone with heart or lung disease: move it indoors or to another day.',
    very_unhealthy:
      'Everyone: leave hard effort outdoors for another day. Children, older people and anyone with heart or lung disease: stay indoors and take it easy.',
    hazardous:
      'Everyone: stay indoors, keep windows shut and avoid effort. Children, older people and anyone with heart or lung disease: rest, in the cleanest room there is.',
  },
  /** `2.3 × the WHO guideline`; the number is a ready text. */
  timesWho: (times: string) => `${times} × WHO guideline`,
  withinWho: 'Within the WHO guideline',
  dayMean: (pollutant: string, amount: string) => `${pollutant}, 24-hour mean: ${amount} µg/m³`,
  hoursMean: (pollutant: string, hours: number, amount: string) =>
    `${pollutant}, mean of ${hours === 1 ? 'one hour' : `${hours} hours`} of the last 24: ${amount} µg/m³`,
  guideline: (amount: string) => `guideline for 24 hours: ${amount} µg/m³`,
  /** A time with the name of its zone: `14:05, West Africa Time`. */
  localTime: (time: string, zone: string) => `${time}, ${zone}`,
  sensorsOnline: (online: string, total: string) => `${online} of ${total} sensors online`,
  none: 'No index now',
  noneWhy: 'There is no reading of the last 10 minutes, and not enough data for NowCast yet.',
  /** In place of a number, when no sensor of a place reports. */
  silent: 'No data arrives',
  /** Why nothing arrives; the times have their zone. */
  silence: {
    /** Of the city or an area. */
    here: (time: string) =>
      `Nothing has arrived since ${time}: the network or our servers are down. Nobody measures the air here now, so there is no advice.`,
    neverHere: 'No sensor here has sent a reading yet.',
    /** Of a sensor: none of its network or area reports. */
    all: (place: string, time: string) =>
      `No sensor of ${place} has reported since ${time}: the network or our servers are down, not this sensor.`,
    most: (silent: string, of: string, place: string) =>
      `${silent} of ${of} sensors of ${place} are silent: probably a network or power failure, not this sensor alone.`,
    restarted: (time: string) =>
      `Our service was down until ${time}. The sensor has not sent since then yet: it may still be reconnecting.`,
    retired:
      'This sensor was taken out of the network. What it measured stays, and can still be verified.',
    ended: 'The operator has ended this sensor’s access to the network.',
    notAccepted: (time: string | undefined) =>
      `Something arrives under its name${time === undefined ? '' : ` (last ${time})`}, but it is not accepted: key, clock or format of the device may be wrong. The operator can see the exact reason.`,
    connected:
      'It is connected, but sends no readings: the measuring part of the device has stopped.',
    never: 'It is registered, but has not sent a reading yet.',
    silent: 'Nothing arrives from it. Check its power and its connection to the internet.',
  },
  /** Against the same hour of the week. */
  usual: {
    than: (day: string, hour: string, aqi: string, weeks: number) =>
      `on a ${day} at ${hour} the average index here is ${aqi} (${weeks} weeks of data)`,
    worse: (than: string) => `Worse than usual: ${than}`,
    better: (than: string) => `Better than usual: ${than}`,
    same: (than: string) => `About as usual: ${than}`,
    from: (date: string) => `Usual for this hour: known from ${date}`,
  },
  lastReading: (time: string) => `Last reading: ${time}`,
  lastMeasured: (time: string, aqi: string, category: string) =>
    `Last measured: US AQI ${aqi}, ${category}, ${time}.`,
  neverRead: 'Has not sent yet',
  offline: 'Offline',
  online: 'Online',
  retired: 'Retired',
  away: 'The numbers cannot be loaded right now. They appear as soon as the server answers.',
  list: {
    label: 'Sensors',
    more: (next: string, all: string) => `Show ${next} more of ${all}`,
    offline: 'offline',
    neverSent: 'has not sent yet',
  },
  seeArea: (name: string) => `${name} in detail`,
  areas: 'Areas',
  areaColumn: 'Area',
  /** Of the mean of the newest readings of its sensors. */
  areaIndex: 'US AQI of the newest readings',
  sensorsColumn: 'Sensors online',
  sensorsOf: (name: string) => `Sensors in ${name}`,
  onlyFirst: (shown: string, total: string) =>
    `The first ${shown} of ${total} sensors, by their ids. The map shows all.`,
  noScript:
    'Map, charts and live numbers need JavaScript. This page shows the numbers of when it was loaded.',
  unknownArea: 'There is no such area',
  unknownAreaWhy: 'No area of this network has that name. It may be spelt differently.',
  toCity: 'All of the city',
  onMap: 'See it on the map',
  share: {
    link: 'Link',
    button: 'Share',
    title: 'Share this page',
    copyLink: 'Copy link',
    embed: 'Show it on your own page',
    embedHint: 'Live, without cookies, and less than 15 kB.',
    badge: 'Badge for a README or a page',
    close: 'Close',
  },
  kept: (time: string) => `No connection to the server. This was last seen ${time}.`,
  proofCard: 'A reading with its proof: open the page to check it yourself.',
  proofTitle: (place: string) => `Proof of a reading: ${place}`,
  proofAbout: (pm25: string, pm10: string, time: string) =>
    `PM2.5 ${pm25}, PM10 ${pm10}, ${time}. Check it yourself, in your browser.`,
  search: 'Search by place or id',
  area: 'Area',
  allOf: (name: string) => `All of ${name}`,
  allAreas: 'All areas',
  order: 'Order',
  orders: {
    worst: 'Worst air first',
    best: 'Best air first',
    id: 'By id',
    silent: 'Longest offline first',
  },
  sensors: 'Sensors',
  offlineCount: (count: string) => `, ${count} offline`,
  neverSentCount: (count: string) => `, ${count} without data yet`,
  listing: 'Loading the sensors…',
  noneFits: 'No matching sensors',
  noneFitsHint: 'Search for another part of a place or an id, or choose all areas.',
  live: 'Live',
  connecting: 'Connecting…',
  noSensors: 'No sensors yet',
  noSensorsHint: 'Register the first one; it appears here with its first reading:',
  noSensorsCommand: 'Command that registers a sensor',
  orSimulate: 'Or try a simulated city:',
  askApi: 'Ask the API',
}

export type CityTexts = typeof city
