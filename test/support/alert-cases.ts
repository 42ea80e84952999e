/**
 * What each alert of `observe/prometheus` fires at, and what it must not fire at, in the words of
 * promtool: `start+step x count`, a value per minute.
 */
export type AlertCase = {
  readonly alert: string
  /** By when it fires, and with which labels besides its severity. */
  readonly at: string
  readonly labels?: Readonly<Record<string, string>>
  /** Series → values. The first is changed to `quiet`, and then it does not fire. */
  readonly firing: Readonly<Record<string, string>>
  readonly quiet: string
}

const partitions = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, p) => [
      `airproof_unjudged_messages{partition="${p}"}`,
      '0x70',
    ]),
  )
const api = { job: 'airproof', process: 'api', instance: 'a' }
const down = 'up{job="airproof",process="api",instance="a"}'

export const alertCases: readonly AlertCase[] = [
  {
    alert: 'AirproofProcessDown',
    at: '3m',
    labels: api,
    firing: { [down]: '0x70' },
    quiet: '1x70',
  },
  // it started again in time
  {
    alert: 'AirproofProcessDown',
    at: '3m',
    labels: api,
    firing: { [down]: '0x70' },
    quiet: '1 0 1x70',
  },
  {
    alert: 'AirproofPartitionsIdle',
    at: '3m',
    // the sixteenth is there, or ends
    firing: { 'airproof_unjudged_messages{partition="15"}': '0 stale', ...partitions(15) },
    quiet: '0x70',
  },
  {
    alert: 'AirproofUnjudged',
    at: '10m',
    firing: { 'airproof_unjudged_messages{partition="3"}': '20000x70', ...partitions(3) },
    quiet: '0 20000 20000 0x70',
  },
  {
    alert: 'AirproofRawLost',
    at: '10m',
    firing: { airproof_raw_lost_total: '0x5 1x70' },
    quiet: '1x70',
  },
  {
    alert: 'AirproofNatsServerAway',
    at: '5m',
    firing: { airproof_nats_servers_away: '1x70' },
    // it was restarted
    quiet: '0 1 1 0x70',
  },
  {
    alert: 'AirproofBrokerClock',
    at: '5m',
    firing: { airproof_broker_clock_behind: '1x70' },
    quiet: '0x70',
  },
  ...[
    { alert: 'AirproofBrokenMessages', metric: 'airproof_broken_messages_total', label: 'stream' },
    { alert: 'AirproofInputFailed', metric: 'airproof_gate_input_failed_total', label: 'loop' },
    { alert: 'AirproofMailsDropped', metric: 'airproof_mails_dropped_total', label: 'kind' },
  ].flatMap(({ alert, metric, label }) =>
    // the first one ever, and one more
    ['_x20 1x70', '4x20 5x70'].map((values) => ({
      alert,
      at: '22m',
      labels: { [label]: 'x' },
      firing: { [`${metric}{${label}="x"}`]: values },
      quiet: '4x70',
    })),
  ),
  {
    alert: 'AirproofPushSpool',
    at: '5m',
    firing: { airproof_push_spool_age_seconds: '90x70' },
    quiet: '20x70',
  },
  {
    alert: 'AirproofSensorsOffline',
    at: '20m',
    firing: {
      'airproof_sensors{status="offline"}': '30x70',
      'airproof_sensors{status="online"}': '70x70',
      'airproof_sensors{status="held"}': '0x70',
      // sensors that never sent do not count
      'airproof_sensors{status="unheard"}': '1000x70',
    },
    quiet: '10x70',
  },
  {
    alert: 'AirproofStorm',
    at: '10m',
    firing: { airproof_storms_total: '0x5 1x70' },
    quiet: '1x70',
  },
  {
    alert: 'AirproofStoreLag',
    at: '10m',
    firing: { 'airproof_store_lag_seconds{partition="2"}': '90x70' },
    quiet: '5x70',
  },
  {
    alert: 'AirproofStoreRefused',
    at: '10m',
    firing: { airproof_store_refused_total: '0x5 3x70' },
    quiet: '3x70',
  },
  {
    alert: 'AirproofApiErrors',
    at: '15m',
    firing: {
      'airproof_api_requests_total{route="/v1/sensors",status="503"}': '0+5x70',
      'airproof_api_requests_total{route="/v1/sensors",status="200"}': '0+100x70',
    },
    quiet: '0x70',
  },
  {
    alert: 'AirproofApiSlow',
    at: '20m',
    firing: {
      'airproof_api_request_seconds_bucket{route="/v1/sensors",le="0.5"}': '0+90x70',
      'airproof_api_request_seconds_bucket{route="/v1/sensors",le="1"}': '0+100x70',
      'airproof_api_request_seconds_bucket{route="/v1/sensors",le="+Inf"}': '0+100x70',
    },
    quiet: '0+100x70',
  },
  {
    alert: 'AirproofKeysUnheard',
    at: '5m',
    firing: { airproof_api_unheard_seconds: '30x70' },
    quiet: '1x70',
  },
  {
    alert: 'AirproofMismatch',
    at: '10m',
    firing: {
      'airproof_api_mismatch_total{reason="leaf"}': '0x5 1x70',
      airproof_api_altered_batches: '0x70',
    },
    quiet: '0x70',
  },
  {
    alert: 'AirproofMismatch',
    at: '10m',
    firing: {
      airproof_api_altered_batches: '1x70',
      'airproof_api_mismatch_total{reason="leaf"}': '0x70',
    },
    quiet: '0x70',
  },
  {
    alert: 'AirproofDeliveriesLate',
    at: '10m',
    firing: { airproof_webhook_oldest_due_seconds: '90x70' },
    quiet: '5x70',
  },
  {
    alert: 'AirproofAnchorAlarm',
    at: '10m',
    labels: { reason: 'NO_FUNDS' },
    firing: {
      'airproof_anchor_alarm{reason="NO_FUNDS"}': '1x70',
      'airproof_anchor_alarm{reason="NONCE"}': '0x70',
    },
    quiet: '1 1 0x70',
  },
  {
    alert: 'AirproofAnchorOld',
    at: '10m',
    firing: { airproof_anchor_oldest_seconds: '4000x70' },
    quiet: '700x70',
  },
  {
    alert: 'AirproofArchiveTrouble',
    at: '40m',
    firing: { airproof_archive_trouble: '1x70' },
    quiet: '1x20 0x70',
  },
  {
    alert: 'AirproofRetentionTrouble',
    at: '40m',
    firing: { airproof_retention_trouble: '1x70' },
    quiet: '0x70',
  },
  {
    alert: 'AirproofEventLoopSlow',
    at: '15m',
    labels: { process: 'api' },
    firing: { 'nodejs_eventloop_lag_p99_seconds{process="api"}': '0.8x70' },
    quiet: '0.02x70',
  },
  {
    alert: 'AirproofMixedVersions',
    at: '65m',
    firing: {
      'airproof_build_info{process="api",version="0.2.0",commit="a"}': '1x70',
      'airproof_build_info{process="gate",version="0.3.0",commit="b"}': '1x70',
    },
    quiet: '_x70',
  },
]
