/** The panels of the dashboards for operators. Each is a row here; `dashboards.ts` makes Grafana's JSON of them. */

export type Panel = {
  readonly title: string
  /** What it shows, and from when on a person should look. */
  readonly description: string
  /** A unit of Grafana; absent: a plain number. */
  readonly unit?: string
  /** One number instead of a line. */
  readonly isStat?: true
  /** From this value on it is orange, and red from the second on. */
  readonly bad?: readonly [number, number?]
  /** Expression → its name in the legend. */
  readonly shows: Readonly<Record<string, string>>
}

export type Board = {
  readonly file: string
  readonly title: string
  readonly description: string
  readonly panels: readonly Panel[]
}

const each = (label: string): string => `{{${label}}}`
const rate = (metric: string): string => `rate(${metric}[$__rate_interval])`

export const boards: readonly Board[] = [
  {
    file: 'network',
    title: 'airproof: network health',
    description: 'Which sensors send, what is refused of them, and who is let in',
    panels: [
      {
        title: 'Processes that answer',
        description:
          'Processes of airproof whose /metrics Prometheus could read last. Fewer than you run: look at once',
        isStat: true,
        shows: { 'sum(up{job="airproof"})': 'up' },
      },
      {
        title: 'Sensors online',
        description: 'Sensors in use that sent a fresh reading within three of their intervals',
        isStat: true,
        shows: { 'max(airproof_sensors{status="online"})': 'online' },
      },
      {
        title: 'Sensors offline',
        description:
          'Share of the sensors that ever sent which are silent now. Over a fifth: look at power and carriers by area',
        unit: 'percentunit',
        isStat: true,
        bad: [0.1, 0.2],
        shows: {
          'max(airproof_sensors{status="offline"}) / (max(airproof_sensors{status="online"}) + max(airproof_sensors{status="held"}) + max(airproof_sensors{status="offline"}))':
            'offline',
        },
      },
      {
        title: 'Readings accepted',
        description: 'Readings accepted per second, by all pipelines',
        unit: 'cps',
        isStat: true,
        shows: { [`sum(${rate('airproof_readings_total{outcome="accepted"}')})`]: 'accepted' },
      },
      {
        title: 'Sensors by status',
        description:
          'Held: silent together with most others, and reported after 15 minutes. Unheard: in the registry, and never sent',
        shows: { 'max by (status) (airproof_sensors)': each('status') },
      },
      {
        title: 'Readings by outcome',
        description: 'What was judged per second. Refusals have the reasons of docs/sensors.md',
        unit: 'cps',
        shows: { [`sum by (outcome) (${rate('airproof_readings_total')})`]: each('outcome') },
      },
      {
        title: 'Events',
        description: 'Rises over thresholds, sensors that went offline and came back, per minute',
        unit: 'cpm',
        shows: { [`60 * sum by (kind) (${rate('airproof_events_total')})`]: each('kind') },
      },
      {
        title: 'Sign-ins',
        description:
          'Of sensors over NATS and MQTT, by verdict. Many that are not ok: a wrong credential, or an attack',
        unit: 'cps',
        shows: {
          [`sum by (protocol, verdict) (${rate('airproof_gate_sign_ins_total')})`]: `${each('protocol')} ${each('verdict')}`,
        },
      },
      {
        title: 'Connections that were closed',
        description: 'Revoked, outlived, flooding, or more than eight of one sensor; per minute',
        unit: 'cpm',
        shows: { [`60 * sum by (why) (${rate('airproof_gate_closed_total')})`]: each('why') },
      },
      {
        title: 'HTTP pushes',
        description:
          'By endpoint and outcome. Spooled: NATS did not take them, so they wait on the gate’s disk',
        unit: 'reqps',
        shows: {
          [`sum by (endpoint, outcome) (${rate('airproof_push_requests_total')})`]: `${each('endpoint')} ${each('outcome')}`,
        },
      },
      {
        title: 'Pushes that wait on the disk',
        description: 'Age of the oldest. Over a minute: NATS does not take what is pushed',
        unit: 's',
        bad: [10, 60],
        shows: { 'max(airproof_push_spool_age_seconds)': 'oldest' },
      },
      {
        title: 'Versions',
        description: 'Processes by version and commit. More than one outside an upgrade: finish it',
        shows: {
          'count by (version, commit) (airproof_build_info)': `${each('version')} ${each('commit')}`,
        },
      },
    ],
  },
  {
    file: 'pipeline',
    title: 'airproof: pipeline',
    description: 'From what arrives to what is in the log',
    panels: [
      {
        title: 'Not judged yet',
        description:
          'Raw messages that arrived and wait, by partition. It rises for all: more pipelines; for one: its sensors or its worker',
        bad: [1_000, 10_000],
        shows: { 'sum by (partition) (airproof_unjudged_messages)': each('partition') },
      },
      {
        title: 'Partitions at work',
        description: 'Of 16. Fewer: readings of the others wait',
        isStat: true,
        shows: { 'count(count by (partition) (airproof_unjudged_messages))': 'partitions' },
      },
      {
        title: 'NATS servers away',
        description:
          'Of the cluster: with one away everything goes on, with two of three nothing does',
        isStat: true,
        bad: [1, 2],
        shows: { 'max(airproof_nats_servers_away)': 'servers' },
      },
      {
        title: 'Commits',
        description: 'Messages committed to the log per second; each holds up to 2,000 readings',
        unit: 'cps',
        shows: { [`sum by (instance) (${rate('airproof_commits_total')})`]: each('instance') },
      },
      {
        title: 'Late readings in memory',
        description: 'Deferred readings that are compared with the store',
        shows: { 'sum by (instance) (airproof_late_waiting)': each('instance') },
      },
      {
        title: 'What a person should look at',
        description:
          'Lost tails of RAW, storms, messages that cannot be read, refusals that were not kept; since an hour ago',
        bad: [1],
        shows: {
          'sum(increase(airproof_raw_lost_total[1h]))': 'RAW lost',
          'sum(increase(airproof_storms_total[1h]))': 'storms',
          'sum(increase(airproof_broken_messages_total[1h]))': 'not readable',
          'sum(increase(airproof_rejected_not_kept_total[1h]))': 'refusals not kept',
          'sum(increase(airproof_gate_input_failed_total[1h]))': 'input that failed',
        },
      },
      {
        title: 'NATS: tried again',
        description: 'Publishes per second that were tried again. Lasting: NATS is slow or away',
        unit: 'cps',
        shows: { [`sum by (process) (${rate('airproof_nats_retries_total')})`]: each('process') },
      },
      {
        title: 'The broker’s clock',
        description: '1: nearly all readings are refused as from the future',
        bad: [0.5, 1],
        shows: { 'max(airproof_broker_clock_behind)': 'slow' },
      },
      {
        title: 'CPU time',
        description: 'Of each process; 1 is one core. A process of ours uses little more than one',
        unit: 'percentunit',
        bad: [0.7, 0.9],
        shows: {
          [`sum by (process, instance) (${rate('process_cpu_seconds_total{job="airproof"}')})`]: `${each('process')} ${each('instance')}`,
        },
      },
      {
        title: 'Memory',
        description: 'Resident memory of each process',
        unit: 'bytes',
        shows: {
          'process_resident_memory_bytes{job="airproof"}': `${each('process')} ${each('instance')}`,
        },
      },
      {
        title: 'Event loop',
        description:
          'The slowest hundredth of the turns. Over half a second: requests and leases wait',
        unit: 's',
        bad: [0.1, 0.5],
        shows: { 'max by (process) (nodejs_eventloop_lag_p99_seconds)': each('process') },
      },
    ],
  },
  {
    file: 'store',
    title: 'airproof: store and archive',
    description: 'From the log to the database and into files',
    panels: [
      {
        title: 'Behind the log',
        description:
          'How long ago the oldest reading was committed that the store does not hold. Over a minute: the store is away or slow',
        unit: 's',
        bad: [10, 60],
        shows: { 'max by (partition) (airproof_store_lag_seconds)': each('partition') },
      },
      {
        title: 'Readings not stored',
        description:
          'Committed to the log, and not in the store; they are read from the log when the store is back',
        shows: {
          'sum(airproof_store_lag_readings)': 'in the log',
          'sum(airproof_store_waiting_rows)': 'of them in memory',
        },
      },
      {
        title: 'Rows written',
        description: 'Per second, by all pipelines',
        unit: 'cps',
        shows: { [`sum(${rate('airproof_store_rows_total')})`]: 'rows' },
      },
      {
        title: 'Writes that failed',
        description: 'Per minute; they are tried again. Refused: the store will never take the row',
        unit: 'cpm',
        bad: [1],
        shows: {
          [`60 * sum(${rate('airproof_store_failures_total')})`]: 'failed',
          [`60 * sum(${rate('airproof_store_refused_total')})`]: 'refused',
        },
      },
      {
        title: 'Archive: complete until',
        description: 'How long ago the archive ends. A day and some hours is usual',
        unit: 's',
        isStat: true,
        bad: [172_800, 345_600],
        shows: { 'time() - (max(airproof_archive_complete_timestamp_seconds) > 0)': 'ago' },
      },
      {
        title: 'Archive: size',
        description: 'Bytes of all its files',
        unit: 'bytes',
        isStat: true,
        shows: { 'max(airproof_archive_bytes)': 'files' },
      },
      {
        title: 'Archive and retention: trouble',
        description:
          '1 while the next run cannot be made, or old readings cannot be deleted: `airproof archive status` says why',
        bad: [0.5, 1],
        shows: {
          'max(airproof_archive_trouble)': 'archive',
          'max(airproof_retention_trouble)': 'retention',
        },
      },
    ],
  },
  {
    file: 'requests',
    title: 'airproof: API and pages',
    description: 'What clients and people ask, and how long it takes',
    panels: [
      {
        title: 'API: requests by route',
        description: 'Answers per second; a route is a pattern',
        unit: 'reqps',
        shows: { [`sum by (route) (${rate('airproof_api_requests_total')})`]: each('route') },
      },
      {
        title: 'API: slowest hundredth by route',
        description: 'The promise is half a second',
        unit: 's',
        bad: [0.25, 0.5],
        shows: {
          [`histogram_quantile(0.99, sum by (le, route) (${rate('airproof_api_request_seconds_bucket')}))`]:
            each('route'),
        },
      },
      {
        title: 'API: failures',
        description:
          'Share of the answers that are 5xx. Over 1 %: look at 503 (something is away) and 500 (a fault of ours) by route',
        unit: 'percentunit',
        bad: [0.001, 0.01],
        shows: {
          [`(sum(${rate('airproof_api_requests_total{status=~"5.."}')}) or vector(0)) / sum(${rate('airproof_api_requests_total')})`]:
            '5xx',
        },
      },
      {
        title: 'API: answers by status',
        description: '401: a wrong key; 429: a limit; 499: the client left',
        unit: 'reqps',
        shows: { [`sum by (status) (${rate('airproof_api_requests_total')})`]: each('status') },
      },
      {
        title: 'API: streams',
        description: 'Open streams; a process takes 1,000 of accounts and 1,000 of visitors',
        shows: { 'sum by (instance) (airproof_api_streams)': each('instance') },
      },
      {
        title: 'API: mismatches',
        description:
          'Readings, or records of batches, that are not what was anchored. Any: the database was changed or is damaged',
        bad: [1],
        shows: {
          'sum by (reason) (airproof_api_mismatch_total)': each('reason'),
          'max(airproof_api_altered_batches)': 'altered batches',
        },
      },
      {
        title: 'Pages: requests by status',
        description: 'Answers of the dashboard per second',
        unit: 'reqps',
        shows: {
          [`sum by (status) (${rate('airproof_dashboard_requests_total')})`]: each('status'),
        },
      },
      {
        title: 'Pages: slowest hundredth by route',
        description: 'From the request to its answer being on the way',
        unit: 's',
        bad: [0.25, 0.5],
        shows: {
          [`histogram_quantile(0.99, sum by (le, route) (${rate('airproof_dashboard_request_seconds_bucket')}))`]:
            each('route'),
        },
      },
      {
        title: 'Pushes: slowest hundredth by endpoint',
        description: 'How long firmware waits until its reading is durable',
        unit: 's',
        bad: [0.25, 1],
        shows: {
          [`histogram_quantile(0.99, sum by (le, endpoint) (${rate('airproof_push_request_seconds_bucket')}))`]:
            each('endpoint'),
        },
      },
    ],
  },
  {
    file: 'webhooks',
    title: 'airproof: webhooks and emails',
    description: 'What is sent to others',
    panels: [
      {
        title: 'Oldest delivery that is due',
        description: 'It could be sent and is not. Over a minute: the notifier is slow or away',
        unit: 's',
        bad: [10, 60],
        shows: { 'max(airproof_webhook_oldest_due_seconds)': 'oldest' },
      },
      {
        title: 'Age at the end',
        description:
          'From the time of an event to the end of its delivery: half of them, and all but one in a hundred',
        unit: 's',
        shows: {
          [`histogram_quantile(0.5, sum by (le, outcome) (${rate('airproof_webhook_delivery_age_seconds_bucket')}))`]: `half, ${each('outcome')}`,
          [`histogram_quantile(0.99, sum by (le, outcome) (${rate('airproof_webhook_delivery_age_seconds_bucket')}))`]: `99 %, ${each('outcome')}`,
        },
      },
      {
        title: 'Attempts by outcome',
        description:
          'Per second. Retry: the receiver failed, and it is tried again for three days; dead: given up',
        unit: 'cps',
        shows: {
          [`sum by (outcome) (${rate('airproof_webhook_attempts_total')})`]: each('outcome'),
        },
      },
      {
        title: 'Failures by reason',
        description: 'Of attempts, per second',
        unit: 'cps',
        shows: { [`sum by (reason) (${rate('airproof_webhook_errors_total')})`]: each('reason') },
      },
      {
        title: 'Waiting and given up',
        description: 'Deliveries that wait for an attempt, and those kept for a replay',
        shows: {
          'sum(airproof_webhook_pending)': 'wait',
          'sum(airproof_webhook_dead)': 'given up',
        },
      },
      {
        title: 'Endpoints paused after failures',
        description: 'They are tried again after longer and longer pauses',
        shows: {
          'sum(airproof_webhook_in_breaker)': 'paused',
          'max(airproof_webhooks)': 'webhooks',
        },
      },
      {
        title: 'Durable within',
        description:
          'How long a message of the ledger takes, all but one in a hundred. Slow: the disk of NATS',
        unit: 's',
        bad: [0.1, 1],
        shows: {
          [`histogram_quantile(0.99, sum by (le) (${rate('airproof_webhook_commit_seconds_bucket')}))`]:
            '99 %',
        },
      },
      {
        title: 'Emails',
        description: 'Sent per hour by kind and outcome, and dropped because too many wait',
        shows: {
          'sum by (kind, outcome) (increase(airproof_dashboard_mails_total[1h]))': `${each('kind')} ${each('outcome')}`,
          'sum by (kind) (increase(airproof_mails_dropped_total[1h]))': `${each('kind')} dropped`,
        },
      },
    ],
  },
  {
    file: 'anchoring',
    title: 'airproof: anchoring',
    description: 'From the log to the chain',
    panels: [
      {
        title: 'Oldest reading that is not anchored',
        description:
          'Since it was accepted. Usual is the interval of batches and the chain’s finality; over an hour: look',
        unit: 's',
        bad: [1_800, 3_600],
        shows: { 'max(airproof_anchor_oldest_seconds)': 'oldest' },
      },
      {
        title: 'Alarms',
        description:
          '1 while a person should look: the table of docs/operations.md says what to do',
        bad: [0.5, 1],
        shows: { 'max by (reason) (airproof_anchor_alarm)': each('reason') },
      },
      {
        title: 'Batches that wait',
        description: 'Sealed and not in a block; in a block and not final. What grows is a backlog',
        bad: [5, 20],
        shows: {
          'max(airproof_anchor_sealed_batch) - max(airproof_anchor_mined_batch)': 'for a block',
          'max(airproof_anchor_mined_batch) - max(airproof_anchor_final_batch)': 'to be final',
        },
      },
      {
        title: 'Last final batch',
        description: 'Its index',
        isStat: true,
        shows: { 'max(airproof_anchor_final_batch)': 'batch' },
      },
      {
        title: 'Last batch sealed',
        description: 'How long ago. Over an hour: the anchor process does not work',
        unit: 's',
        isStat: true,
        bad: [3_900, 7_200],
        shows: { 'time() - (max(airproof_anchor_sealed_timestamp_seconds) > 0)': 'ago' },
      },
      {
        title: 'Readings sealed',
        description: 'Per second',
        unit: 'cps',
        shows: { [`sum(${rate('airproof_anchor_sealed_readings_total')})`]: 'readings' },
      },
      {
        title: 'Finalized block',
        description: 'Of the chain. It stands still: the chain, or the node that is asked',
        shows: { 'max(airproof_anchor_finalized_block)': 'block' },
      },
    ],
  },
]
