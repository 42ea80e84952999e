import { count, number } from './write.ts'

const accounts = { one: 'account', other: 'accounts' }

type Counts = {
  readonly new: number
  readonly returns: number
  readonly changed: number
  readonly unchanged: number
}

/** What the operator's pages say. */
export const operator = {
  alerts: {
    title: 'Alerts',
    none: 'Nothing needs your attention.',
    idle: (idle: number, of: number) =>
      `${number(idle)} of ${number(of)} partitions have no worker: readings wait. Is the pipeline running?`,
    unjudged: (waiting: number) =>
      `${number(waiting)} messages wait for checks. If this grows, the pipeline is too slow or stuck.`,
    unstored: (waiting: number) =>
      `${number(waiting)} readings wait for the database. Is it full, slow or away?`,
    notifier: (silent: number, of: number) =>
      `${number(silent)} of ${number(of)} webhook shards do not answer: nothing of them is delivered. Is the notifier running?`,
    deliveries: (seconds: number, waiting: number) =>
      `${number(waiting)} deliveries wait, the oldest for ${number(seconds)} s.`,
    outage: (offline: number, of: number) =>
      `${number(offline)} of ${number(of)} sensors are offline: more likely a network or power failure than broken sensors.`,
    mails: (waiting: number) =>
      `${number(waiting)} emails wait to be sent. Does the mail server answer?`,
    anchor: (words: string) => `Anchoring: ${words}`,
  },
  firstRun: {
    title: 'No sensors yet',
    intro: 'Register the first one here, or import a list.',
    add: 'Add a sensor',
    importList: 'Import a list',
    command: 'On the command line:',
    simulate: 'Or try a simulated city:',
    commandLabel: 'Command',
  },
  sensors: {
    manage: 'Manage',
    manageOf: (id: string) => `Manage ${id}`,
    importList: 'Import a list',
    none: 'No matching sensors.',
    addKey: 'Make a key for it now',
    added: 'The sensor is registered. Put this key into the device now.',
    add: 'Add a sensor',
    addIt: 'Add it',
    example: (text: string) => `such as ${text}`,
    search: 'Search',
    searchHint: 'id, area, address',
    state: 'State',
    states: {
      any: 'any state',
      online: 'online',
      offline: 'offline',
      held: 'on hold (mass outage)',
      unheard: 'no data yet',
    },
    title: 'Sensors',
    caption: 'Sensors by id',
    total: (total: number) =>
      `${count(total, { one: 'sensor', other: 'sensors' })}. Up to a few seconds old.`,
    index: 'Index',
    lastReading: 'Last reading',
    noReading: 'no data yet',
    every: 'Every',
    previous: 'Previous',
    next: 'Next',
  },
  silence: {
    title: 'Why it is silent',
    ask: 'Why?',
    askOf: (id: string) => `Why is ${id} silent?`,
    looking: 'Looking for the reason…',
    reports: 'It reports as it should.',
    seeRefused: 'See what was refused',
    command: 'Command:',
    noGate: 'No gate answers, so nothing is known of its sign-ins. Is `airproof gate` running?',
    reasons: {
      retired: (time: string) => `It was taken out of the network on ${time}.`,
      revoked: 'Its key was revoked.',
      no_key: 'It has no key, so it cannot sign in.',
      outage: (silent: string, of: string, place: string) =>
        `${silent} of ${of} sensors of ${place} are silent: it is not this sensor.`,
      restarted: (time: string) =>
        `Our service was down until ${time}, and it has not sent since then yet.`,
      paused: (time: string) => `It sent too much and is kept out until ${time}.`,
      replaced: (made: string, time: string) =>
        `It was given a new key on ${made}, and still signs in with the old one (last ${time}).`,
      sign_in: (time: string, why: string) => `Its sign-in was refused on ${time}. ${why}`,
      rejected: (time: string, why: string) => `What it sent on ${time} was refused. ${why}`,
      denied: (time: string) => `It is let in, but publishes where it may not (last ${time}).`,
      connected: 'It is connected, but sends nothing.',
      never: 'It has never sent a reading, and no sign-in is known.',
      silent: (time: string) => `Nothing has arrived from it since ${time}.`,
    },
    fixes: {
      retired: 'Adding its id again brings it back.',
      revoked: 'Make a new key below and put it into the device.',
      no_key:
        'Make a key below and put it into the device. One that sends through an application needs none.',
      outage: 'Check NATS, the pipeline, and the network that the sensors use.',
      restarted: 'Wait for some minutes: devices connect again by themselves.',
      paused: 'Set a longer interval in the device; it is let in again after the pause.',
      replaced: 'Put the new key into the device, or make another one below.',
      sign_in:
        'Compare id and key in the device with what you gave out, or make a new key below. Anyone can try to sign in under its id.',
      denied:
        'It must publish to its own subject or topic and to nothing else; see the sensor guide.',
      connected: 'Restart the device, and check its measuring part and its interval.',
      never: 'Put its id, its key and the address of the server into the device.',
      silent: 'Check its power and its connection to the internet.',
    },
    /** Why the gate refused a sign-in. */
    signIn: {
      wrong: 'The key is not its key.',
      unknown: 'It has no key.',
      expired: 'The key was replaced, and its overlap is over.',
      revoked: 'The key was revoked.',
      mistyped: 'What it sent is not a key of a sensor: it is cut off or mistyped.',
      unregistered: 'It has a key, but is not in the registry.',
      client_id: 'The MQTT client id is not the id of the sensor.',
      paused: 'It had sent too much.',
    },
    facts: {
      key: 'Key',
      connection: 'Connected',
      contact: 'Last accepted contact',
      left: 'Last connection ended',
      refused: 'Refused sign-ins',
    },
    keys: { none: 'none', good: 'valid', revoked: 'revoked' },
    notConnected: 'no',
    neverThere: 'never',
  },
  manage: {
    settings: 'Settings',
    save: 'Save',
    saved: 'Saved',
    move: 'Move it',
    moveHint: 'The new place counts from now on. Older readings stay at the old one.',
    moveIt: 'Move it',
    sites: (sites: number) => count(sites, { one: 'place so far', other: 'places so far' }),
    key: 'New key',
    keyHint:
      'The device signs in with it. The present key stops working at once: put the new one into the device right away. For a time with both, use `airproof sensors key --overlap`.',
    makeKey: 'Make a new key',
    retire: 'Retire it',
    retireHint: (id: string) =>
      `What ${id} sends from now on is refused as unknown_sensor, and its key stops working. Its readings and proofs stay. Adding the id again brings it back.`,
    retireSure: 'Yes, take it out of the network',
    retireIt: 'Retire it',
    fields: {
      cadence_seconds: 'Seconds between readings',
      make: 'Make',
      model: 'Model',
      height_m: 'Height above the ground, m',
      owner: 'Owner, as they want to be named',
      licence: 'Licence of its data',
      area: 'Area',
      address: 'Address',
      lat: 'Latitude',
      lon: 'Longitude',
      id: 'Id',
    },
  },
  importing: {
    intro:
      'A CSV file of at most 5,000 sensors and 1 MB. First you see what it would change. Columns: id, area, lat, lon, address; optional: cadence, from, device, device_options, receipts, public_key, signature, make, model, indoor, height_m, licence, owner.',
    example: 'Example of a list',
    file: 'CSV file',
    tooLong: 'The file is larger than 1 MB: cut it into several, or use `airproof sensors import`.',
    checking: 'Checking…',
    preview: 'Preview',
    counts: (counts: Counts) =>
      `${number(counts.new)} new, ${number(counts.returns)} brought back, ${number(counts.changed)} changed, ${number(counts.unchanged)} as they are`,
    faults: (faults: number) =>
      `${count(faults, { one: 'row is', other: 'rows are' })} not right. Correct the file and choose it again; nothing is imported until then.`,
    line: (line: string) => `line ${line}:`,
    /** What is not right about a row. */
    rowFaults: {
      values: (given: string) =>
        `more values than columns, from “${given}” on. Put a value with a comma in quotes.`,
      no_id: () => 'no id.',
      no_area: () => 'no area.',
      id: (given: string) => `“${given}” is not an id of this network, such as NGR-LOS-IKJ-001.`,
      area: (given: string) => `“${given}” cannot be the name of an area.`,
      lat: (given: string) => `“${given}” is not a latitude, a number from -90 to 90.`,
      lon: (given: string) => `“${given}” is not a longitude, a number from -180 to 180.`,
      cadence: (given: string) => `“${given}” is not a cadence, such as 5m or 300.`,
      from: (given: string) =>
        `“${given}” is not a time with an offset, such as 2026-01-31T00:00:00Z.`,
      device: (given: string) =>
        `“${given}” is not a device, KIND:SERIAL with options NAME=VALUE. docs/sensors.md lists the kinds.`,
      receipts: (given: string) => `receipts must be yes or no, and is “${given}”.`,
      public_key: (given: string) => `“${given}” is not a public key.`,
      signature: (given: string) => `signature must be required or optional, and is “${given}”.`,
      indoor: (given: string) => `indoor must be yes or no, and is “${given}”.`,
      height_m: (given: string) => `height_m must be a number of metres, and is “${given}”.`,
      text: (given: string) =>
        `${given}: its area or address has a line break, or a character that changes the direction of text. Take it out.`,
      entry: () =>
        'a value is out of its range or too long, or a signature is required without a public key.',
    },
    id: 'Sensor',
    outcome: 'What happens',
    outcomes: { new: 'new', returns: 'brought back', changed: 'changed', unchanged: 'as it is' },
    what: 'Changes',
    /** What of a sensor a row changes. */
    whats: {
      sites: 'place',
      cadence: 'cadence',
      device: 'device',
      receipts: 'receipts',
      'public key': 'public key',
      signature: 'signature',
      make: 'make',
      model: 'model',
      indoor: 'indoor',
      height_m: 'height',
      licence: 'licence',
      owner: 'owner',
    },
    more: (more: number) => `${number(more)} more.`,
    withKeys: 'Make a key for each new sensor',
    doIt: (sensors: number) => `Import ${count(sensors, { one: 'sensor', other: 'sensors' })}`,
    done: (counts: Counts) =>
      `Imported: ${number(counts.new + counts.returns)} added, ${number(counts.changed)} changed.`,
    keysOnce: (keys: number) =>
      `${count(keys, { one: 'key was', other: 'keys were' })} made. This is the only time they are shown: download the file now.`,
    download: 'Download the keys',
  },
  refused: {
    refused: 'Refused',
    partial: 'Accepted in part',
    show: 'Show',
    partialWords:
      'These readings were accepted. A value that cannot be was dropped; the original is kept here.',
    tell: 'What to tell the owner',
    refresh: 'Refresh',
    again: (messages: number) => `Send these ${number(messages)} again`,
    sure: (messages: number) =>
      `${count(messages, { one: 'message is', other: 'messages are' })} checked again as if they had just arrived. Do this once the cause is fixed: what is still wrong is refused again.`,
    yes: 'Send again',
    unknown: 'No advice for this reason yet.',
    any: 'any reason',
    reason: 'Reason',
    sensor: 'Sensor',
    sensorHint: 'whole id',
    none: 'Nothing of this kind is kept.',
    title: 'Refused messages',
    newest: (shown: number) => `The newest ${number(shown)}.`,
    caption: 'Refused messages, newest first',
    arrived: 'Arrived',
    why: 'Why',
    bytes: 'Bytes',
    content: 'Content',
    showOf: (id: string) => `Show ${id}`,
    id: 'Id',
    length: (bytes: number) => count(bytes, { one: 'byte', other: 'bytes' }),
    cut: (kept: number) => `only the first ${number(kept)} are kept`,
    base64: 'not text: shown in base 64',
    empty: '(empty)',
    againOne: 'Send it again',
    /** What became of messages that were sent again. */
    outcome: {
      replayed: (n: number) => `${number(n)} sent again`,
      truncated: (n: number) => `${number(n)} not: only their beginning is kept`,
      unsendable: (n: number) => `${number(n)} not: their sensor has no valid name`,
      gone: (n: number) => `${number(n)} no longer kept`,
    },
    reasons: {
      not_json: 'It is not JSON.',
      schema: 'It is JSON, but not a reading.',
      too_large: 'Its body is longer than 128 KiB.',
      too_many: 'It holds more than 500 readings.',
      empty: 'It is an empty list.',
      unknown_sensor: 'The sensor is not in the registry: add it, then send these again.',
      sensor_mismatch: 'The reading names another sensor than the subject it came on.',
      wrong_partition: 'It is on the subject of another partition.',
      no_offset: 'Its time has no offset, so it is ambiguous.',
      too_old: 'Its time is before the earliest that is believed: a broken clock.',
      future: 'Its time is more than five minutes after it arrived: a clock that runs ahead.',
      out_of_range: 'No value is believable.',
      conflict: 'There is another reading of that sensor and time with other values.',
      before_site: 'Its time is more than a day before the sensor was at its first site.',
      too_many_late: 'The sensor sent a million late readings that day already.',
      too_many_fresh: 'The sensor sent as many fresh readings that day as it may: one per second.',
      not_judged:
        'Judging it failed: a fault of airproof. Report it; send these again after an update.',
      bad_signature: 'It is not signed with a key that the sensor had at its time.',
      partial: 'Accepted, but a value out of range was dropped; the original is kept.',
    },
    advice: {
      not_json:
        'The device sends something that is not JSON. Check its firmware’s format setting, or update the firmware.',
      schema:
        'The message lacks a field or has one of the wrong type. Compare it with the example in the sensor guide: sensor_id, timestamp and values as numbers.',
      too_large: 'The message is longer than 128 KiB. Send fewer readings at once.',
      too_many: 'A message may hold 500 readings. Send what was stored in several messages.',
      empty: 'The device sends an empty list. Send nothing when there is nothing to send.',
      unknown_sensor:
        'We do not know this id. Check the id in the device; if it is right, ask us to register it.',
      sensor_mismatch:
        'The device signs in as one sensor and names another. Use the same id in the login, the topic and the message.',
      wrong_partition:
        'The message came on an internal subject. Publish to air.raw.<id> and nothing else.',
      no_offset:
        'The time has no zone. Send UTC with a Z at the end, such as 2026-01-31T08:00:00Z.',
      too_old:
        'The device’s clock is wrong, mostly after a power cut. Let it set its clock by NTP before it measures.',
      future:
        'The device’s clock runs ahead. Let it set its clock by NTP; check that it sends UTC and not local time with a Z.',
      out_of_range:
        'Every value is outside what the air can be. The sensor is probably broken, wet or not connected.',
      conflict:
        'The device sent two different readings for the same second. Check for a second device with the same id.',
      before_site:
        'The reading is from before the sensor was at its first place. Check the clock, or tell us since when it is there.',
      too_many_late:
        'The device sends very many old readings a day. Send what is stored only once.',
      too_many_fresh: 'The device sends more than one reading per second. Set a longer interval.',
      not_judged: 'This is our fault. You need not do anything; your readings are kept.',
      bad_signature:
        'The signature does not match the key we have. If the device got a new key, send us the public one.',
      partial:
        'One of the values cannot be, so only the others count. Check that part of the sensor.',
    },
  },
  status: {
    measuring: 'Measuring rates for a second…',
    neverRan: 'never ran',
    mib: (count: number) => `${number(count / 1024 / 1024, 1, { fixed: true })} MiB`,
    perSecond: (count: number) => `${number(count)}/s`,
    incoming: 'Incoming',
    incomingWords: (accepted: number) => `raw messages; ${number(accepted)} readings/s accepted`,
    online: 'Sensors online',
    onlineWords: (registered: number, offline: number, unheard: number) =>
      `of ${number(registered)}; ${number(offline)} offline, ${number(unheard)} without data yet`,
    unjudged: 'Waiting for checks',
    unjudgedWords: 'raw messages that wait for the pipeline',
    unstored: 'Not stored yet',
    unstoredWords: 'readings that wait for the database',
    statistics: 'Statistics not up to date',
    statisticsWords: 'log entries',
    notAnchored: 'Not anchored yet',
    notAnchoredWords: 'readings; none is anchored',
    notAnchoredSince: 'readings; batch {batch} was, {when}',
    unmatched: 'Events not matched',
    unmatchedWords: 'with webhooks',
    deliveries: 'Deliveries waiting',
    deliveriesWords: (seconds: number, paused: number, dead: number) =>
      `oldest due for ${number(seconds)} s; ${number(paused)} endpoints paused after failures, ${number(dead)} given up`,
    mails: 'Emails waiting',
    mailsWords: 'to be sent',
    refused: 'Refused',
    refusedWords: 'kept; {why:why}',
    log: 'The log',
    logWords: (messages: number, accepted: number) =>
      `${number(messages)} messages; ${number(accepted)} readings accepted ever`,
    partitions: 'Partitions',
    caption: 'The pipeline, partition by partition',
    partition: 'P',
    raw: 'Raw',
    accepted: 'Accepted',
    notStored: 'Not stored',
    lastCommit: 'Last commit',
    worker: 'Worker',
    none: 'none',
  },
  anchors: {
    states: {
      closing: 'being sealed',
      sealed: 'sealed',
      sent: 'sent',
      mined: 'mined',
      final: 'final',
    },
    contract: 'Contract',
    noContract: 'none yet: `airproof anchor deploy`',
    chain: 'Chain',
    checked: 'Last checked',
    never: 'never',
    checkedNone: (block: number) => `{when}, at block ${number(block)}: no batch is final yet`,
    checkedTo: (block: number, batch: number) =>
      `{when}, at block ${number(block)}: final up to batch ${number(batch)}`,
    noneTitle: 'No batch yet',
    none: 'The first is sealed some minutes after the first reading, if an anchor process runs.',
    title: 'The newest batches',
    batch: 'Batch',
    state: 'State',
    readings: 'Readings',
    sealed: 'Sealed',
    log: 'Log',
    block: 'Block',
    transaction: 'Transaction',
  },
  accounts: {
    search: 'Search',
    searchHint: 'email, name, id',
    tier: 'Tier',
    anyTier: 'any tier',
    title: 'Accounts',
    total: (total: number) => `${count(total, accounts)}.`,
    newest: (total: number, shown: number) =>
      `${count(total, accounts)}; the newest ${number(shown)} are shown.`,
    caption: 'Accounts, newest first',
    email: 'Email',
    name: 'Name',
    organization: 'Organisation',
    role: 'Role',
    created: 'Created',
    change: 'Change',
    makes: { free: 'Make free', premium: 'Make premium' },
    makeTitles: { free: 'Make this account free?', premium: 'Make this account premium?' },
    makeIts: { free: 'Make it free', premium: 'Make it premium' },
    isNow: { free: '{name} ({email}) is free now.', premium: '{name} ({email}) is premium now.' },
    consequences: {
      free: 'Its webhooks are suspended, and it has a free account’s requests per day.',
      premium: 'It gets webhooks and more requests per day.',
    },
    soon: 'Takes effect in a second.',
  },
  tabs: {
    label: 'Operator',
    status: 'Status',
    sensors: 'Sensors',
    rejected: 'Refused',
    anchors: 'Anchors',
    accounts: 'Accounts',
  },
}

export type OperatorTexts = typeof operator
