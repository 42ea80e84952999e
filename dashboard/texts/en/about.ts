/** What the footer leads to: who, how, under which licence, and what is stored of people. */
export const about = {
  about: {
    title: 'About',
    paragraphs: {
      who: 'This site shows the air of a city as its own sensors measure it: live, over time, and so that every reading can be checked by anyone.',
      how: 'Sensors send a reading every few seconds or minutes. Each is checked, gets an index and a quality mark, is stored, and is shown within a second or two. Every few minutes all new readings are sealed together: one fingerprint of them is written to a blockchain. If a reading were changed later, its fingerprint would no longer fit, and its proof page would say so.',
      code: 'The software is airproof. It is open source, so what this page says can be read in its code.',
    },
    proof: '{proof:Check a proof} · {map:See the air now}',
    operator: 'This network is run by {contact}.',
  },
  method: {
    title: 'How it is measured',
    sections: {
      now: {
        title: 'The number of now',
        body: 'The number at the top is the NowCast of the US EPA: a mean of the last 12 hours in which the newest hours count most, more so when the air is changing. It is the index that fits the question “how is the air now?”. While a sensor has too few hours, the mean of the last 10 minutes is shown and called that. The number of a single reading is called the index of that reading.',
      },
      index: {
        title: 'The index',
        body: 'The index is that of the US EPA of 2024, from PM2.5, PM10 or another pollutant that the sensor measures; the highest of them is the index. It has six categories. The European index can be chosen where a page offers it. The guideline of the WHO is 15 µg/m³ of PM2.5 as a mean of 24 hours; “× WHO” says how many times that is. Beside it is the mean of 24 hours that this is about; while fewer than 18 of them have readings, it says of how many hours it is.',
      },
      correction: {
        title: 'Raw and corrected',
        body: 'Low-cost sensors count particles by light, and damp air makes particles look larger. Where a sensor also measures humidity, a corrected value by the formula of the US EPA of 2021 is shown beside the raw one. The index is made from the raw value unless the page says otherwise.',
      },
      quality: {
        title: 'Quality',
        body: 'A value that cannot be, such as a humidity of 300 %, is left out, and a message without any possible value is refused; the operator keeps its original for a while. No other reading is thrown away for being odd: rules mark what is doubtful, such as a jump, a value that does not move, or one that disagrees with all neighbours. Means leave out what is marked as bad, and say how much of the time they cover.',
      },
      proof: {
        title: 'What a proof shows',
        body: 'A proof shows that a reading with exactly these values was among those that were sealed, and when the seal was written. It does not show that the sensor measured well. On a local test chain it shows nothing about time, and every page says so.',
      },
    },
  },
  data: {
    title: 'Data licence',
    licensed: 'The readings of this network are licensed under {licence}. Credit: {credit}.',
    unlicensed:
      'The operator of this network has not named a licence for its readings. Ask before you publish them; looking at them, linking to them and checking them is always allowed.',
    ways: 'You can take them as CSV from every chart, by the API with a free key, or as the files of the archive, if the operator has opened one.',
    sources:
      'The map names the sources of its ground. The font is Inter, under the {font:SIL Open Font License}.',
  },
  privacy: {
    title: 'Privacy',
    paragraphs: {
      nothing:
        'You can look at everything without an account. This site has no advertising, and counts only how often each kind of page was asked for, not by whom.',
      stored:
        'Without an account your browser may keep the language, the colours and the time zone that you chose, that it has the font of these pages, what you last saw, to show it without a connection, and a cookie that protects forms.',
      account:
        'An account holds your email address, your name, the organisation if you gave one, the language of your emails, a hash of your password, your API keys as hashes, your webhooks and what they sent in the last 30 days, how many requests each key made per day (40 days), the last requests of your programs (7 days), and security events such as sign-ins, with the address and the browser they came from (90 days). A cookie recognises a browser that you signed in with for 180 days. All this is used only to run the account.',
      leave:
        'You can download all of it, or delete the account, at any time. Deletion is at once and complete.',
    },
    /** By where the ground of the map comes from. */
    ownMap: 'Nothing is loaded from other sites.',
    tiles:
      'The ground of the map is loaded from {host}, which thereby sees your address. Nothing else is loaded from other sites.',
    account: '{account:Your account}',
    ask: 'Questions about your data: {contact}.',
  },
}

export type AboutTexts = typeof about
