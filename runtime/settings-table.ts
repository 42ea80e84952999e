/**
 * Every setting that airproof reads: its kind, what it is without one, who reads it. `airproof
 * settings` prints it, `docs/settings.md` is made from it, and a name that it lacks cannot be read.
 */
import { defaultIdPrefix } from '../core/air/sensor-id.ts'
import { defaultSignatureHeader } from './webhook-signature.ts'

export type Reader =
  | 'all'
  | 'up'
  | 'commands'
  | 'pipeline'
  | 'anchor'
  | 'notifier'
  | 'archive'
  | 'api'
  | 'dashboard'
  | 'gate'

export type SettingRow = {
  /** `secret`: NAME, or the first line of the file that NAME_FILE names, or the credential NAME of systemd. */
  readonly is:
    | 'text'
    | 'int'
    | 'port'
    | 'duration'
    | 'instant'
    | 'url'
    | 'choice'
    | 'secret'
    | 'yes'
  /** As an operator would write it. */
  readonly default?: string
  /** Without a default: what is used then. */
  readonly otherwise?: string
  readonly min?: number
  readonly max?: number
  readonly protocols?: readonly string[]
  readonly choices?: readonly string[]
  readonly of: readonly Reader[]
  readonly since: '0.1' | '0.2'
  readonly what: string
}

const web = ['http:', 'https:'] as const
const nats = ['nats:', 'tls:', 'ws:', 'wss:'] as const

/** Which city this is. */
export const networkTable = {
  AIRPROOF_NETWORK_NAME: {
    is: 'text',
    default: 'Lagos',
    of: ['api', 'dashboard', 'archive', 'commands'],
    since: '0.1',
    what: 'the name of the whole network, mostly its city’s',
  },
  AIRPROOF_ID_PREFIX: {
    is: 'text',
    default: defaultIdPrefix,
    of: ['all'],
    since: '0.1',
    what: 'what every sensor id begins with, in capitals: `BER` for BER-MIT-001; it never changes once there are sensors',
  },
  AIRPROOF_TIMEZONE: {
    is: 'text',
    otherwise: 'that of the city of the network’s name, or UTC',
    of: ['dashboard'],
    since: '0.2',
    what: 'what pages show times in: a name of the IANA time zones',
  },
  AIRPROOF_MAP_BOX: {
    is: 'text',
    otherwise: 'that of the map’s file, or Lagos',
    of: ['dashboard', 'commands'],
    since: '0.2',
    what: 'what the map shows at first: west,south,east,north in degrees',
  },
  AIRPROOF_USUAL_RANGES: {
    is: 'text',
    otherwise: 'temperature=10..50,co2=300..5000',
    of: ['pipeline'],
    since: '0.2',
    what: 'a value outside is flagged as unusual; a quantity that is not named keeps its default',
  },
  AIRPROOF_LANGUAGE: {
    is: 'choice',
    choices: ['en', 'fr'],
    default: 'en',
    of: ['dashboard'],
    since: '0.2',
    what: 'the language of emails and pages whose reader has not chosen one',
  },
} as const satisfies Readonly<Record<string, SettingRow>>

export const settingsTable = {
  ...networkTable,
  AIRPROOF_DATA: {
    is: 'text',
    default: '.airproof',
    of: ['all'],
    since: '0.1',
    what: 'the folder of this machine’s data',
  },
  AIRPROOF_LOG: {
    is: 'choice',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
    of: ['all'],
    since: '0.1',
    what: 'the least important lines that are logged',
  },
  AIRPROOF_ADMIN_HOST: {
    is: 'text',
    default: '127.0.0.1',
    of: ['pipeline', 'anchor', 'notifier', 'archive', 'api', 'dashboard', 'gate'],
    since: '0.1',
    what: 'where `/health`, `/ready` and `/metrics` of a process are',
  },
  AIRPROOF_ADMIN_PORT: {
    is: 'port',
    otherwise: 'any free one; under `up` 9480, or that of the last start',
    of: ['up', 'pipeline', 'anchor', 'notifier', 'archive', 'api', 'dashboard', 'gate'],
    since: '0.1',
    what: 'their port, under `up` the first of seven that follow one another; 0: any free one',
  },
  AIRPROOF_REPLICAS: {
    is: 'int',
    default: '1',
    min: 1,
    max: 5,
    of: ['all'],
    since: '0.1',
    what: 'copies of each new stream and bucket: 3 in a cluster that survives the loss of a server',
  },
  AIRPROOF_EARLIEST: {
    is: 'instant',
    default: '2015-01-01',
    of: ['all'],
    since: '0.1',
    what: 'earlier readings are refused: those of a broken clock',
  },
  AIRPROOF_STORE_CHANGED: {
    is: 'yes',
    of: ['up', 'pipeline', 'api'],
    since: '0.2',
    what: 'at one start: readings may go into another store, and their history stays in the old one',
  },
  AIRPROOF_SECRET: {
    is: 'secret',
    otherwise: 'a key in the data folder',
    of: ['notifier', 'api', 'dashboard', 'commands'],
    since: '0.1',
    what: 'the key that seals webhook secrets, 32 bytes as hex; the same for every process',
  },
  NATS_URL: {
    is: 'url',
    protocols: nats,
    otherwise: 'the instance that runs on the data folder',
    of: ['all'],
    since: '0.1',
    what: 'one address, or those of all servers of a cluster, separated by commas; no other is tried',
  },
  NATS_USER: {
    is: 'text',
    of: ['all'],
    since: '0.1',
    what: 'the NATS user; commands are for `operator`',
  },
  NATS_PASSWORD: { is: 'secret', of: ['all'], since: '0.1', what: 'its password' },
  NATS_CREDS: {
    is: 'text',
    of: ['all'],
    since: '0.1',
    what: 'a NATS credentials file, in place of user and password',
  },
  NATS_PIN_FILE: {
    is: 'text',
    of: ['all'],
    since: '0.1',
    what: 'the NATS server’s own certificate: no other is trusted, and its name need not match',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    is: 'url',
    protocols: web,
    of: ['pipeline', 'anchor', 'notifier', 'api'],
    since: '0.2',
    what: 'an OpenTelemetry collector that gets traces (OTLP over HTTP); without it nothing is traced',
  },
  INFLUX_URL: {
    is: 'url',
    protocols: web,
    otherwise: 'SQLite in the data folder',
    of: ['up', 'pipeline', 'api', 'archive', 'commands'],
    since: '0.1',
    what: 'the InfluxDB 2 that readings are stored in',
  },
  INFLUX_TOKEN: {
    is: 'secret',
    of: ['up', 'pipeline', 'api', 'archive', 'commands'],
    since: '0.1',
    what: 'its token; needed with INFLUX_URL',
  },
  INFLUX_ORG: {
    is: 'text',
    default: 'airproof',
    of: ['up', 'pipeline', 'api', 'archive', 'commands'],
    since: '0.1',
    what: 'its organisation',
  },
  INFLUX_BUCKET: {
    is: 'text',
    default: 'air',
    of: ['up', 'pipeline', 'api', 'archive', 'commands'],
    since: '0.1',
    what: 'its bucket for readings; the one for statistics has `_1h` after that name',
  },
  INFLUX_READ_TOKEN: {
    is: 'secret',
    of: ['up'],
    since: '0.2',
    what: 'a token that only reads: `up` gives it to the API and the archive in place of INFLUX_TOKEN',
  },
  INFLUX_ADMIN_TOKEN: {
    is: 'secret',
    of: ['commands'],
    since: '0.2',
    what: 'for `store setup` alone: a token that may make buckets and tokens; it is not kept',
  },
  AIRPROOF_BACKUP_PASSPHRASE: {
    is: 'secret',
    of: ['commands'],
    since: '0.2',
    what: 'for `backup` and `restore`: seals the secrets; at least 12 characters',
  },
  CHAIN_RPC_URL: {
    is: 'url',
    protocols: web,
    otherwise: 'under `up` an anvil of its own',
    of: ['up', 'anchor', 'commands'],
    since: '0.1',
    what: 'nodes of the chain, separated by commas: the next one when one does not answer',
  },
  CHAIN_ID: {
    is: 'int',
    min: 1,
    otherwise: 'that of the deployment',
    of: ['anchor', 'commands'],
    since: '0.1',
    what: 'the chain that the nodes must be of',
  },
  ANCHOR_CONTRACT: {
    is: 'text',
    otherwise: 'that of the deployment',
    of: ['up', 'anchor', 'commands'],
    since: '0.1',
    what: 'the address of the contract',
  },
  ANCHOR_CONTRACT_BLOCK: {
    is: 'int',
    default: '0',
    of: ['anchor', 'commands'],
    since: '0.1',
    what: 'the block in which it was made, or one before',
  },
  ANCHOR_KEY_FILE: {
    is: 'text',
    otherwise: '`anchor.key` in the data folder',
    of: ['anchor', 'commands'],
    since: '0.1',
    what: 'the writer’s private key, readable by its owner alone (mode 0600)',
  },
  ANCHOR_OWNER_KEY_FILE: {
    is: 'text',
    of: ['commands'],
    since: '0.2',
    what: 'the contract owner’s private key, for `anchor writer` and `anchor deploy`',
  },
  ANCHOR_RPC_TIMEOUT: {
    is: 'duration',
    default: '10s',
    of: ['anchor', 'commands'],
    since: '0.1',
    what: 'how long a node may take to answer',
  },
  ANCHOR_INTERVAL: {
    is: 'duration',
    default: '10m',
    of: ['anchor', 'api'],
    since: '0.1',
    what: 'a batch is sealed at most this long after its first reading (`up --demo`: 1m)',
  },
  ANCHOR_MAX_READINGS: {
    is: 'int',
    default: '500000',
    min: 1,
    max: 2_000_000,
    of: ['anchor'],
    since: '0.1',
    what: 'a batch is sealed when it has this many readings',
  },
  ANCHOR_POLL: {
    is: 'duration',
    default: '2s',
    of: ['anchor'],
    since: '0.1',
    what: 'how often the chain is looked at',
  },
  ANCHOR_MAX_FEE_GWEI: {
    is: 'int',
    default: '100',
    min: 1,
    of: ['anchor'],
    since: '0.1',
    what: 'the most that is paid for a unit of gas',
  },
  ANCHOR_BUMP_AFTER: {
    is: 'duration',
    default: '1m',
    of: ['anchor'],
    since: '0.1',
    what: 'a transaction that is not mined after this time is sent again with a higher fee',
  },
  ANCHOR_MAKES_CONTRACTS: {
    is: 'yes',
    of: ['anchor'],
    since: '0.2',
    what: 'the chain is the anvil of `up`, which sets it: contracts may be made there',
  },
  AIRPROOF_LOG_HOURS: {
    is: 'int',
    default: '24',
    max: 8_760,
    of: ['anchor'],
    since: '0.2',
    what: 'the log is kept for clients this long, after it is final on the chain and read by all',
  },
  AIRPROOF_LOG_BYTES: {
    is: 'int',
    default: '2147483648',
    of: ['anchor'],
    since: '0.2',
    what: 'but not beyond about this many bytes of READINGS',
  },
  AIRPROOF_API_HOST: {
    is: 'text',
    default: '127.0.0.1',
    of: ['api', 'notifier'],
    since: '0.1',
    what: 'where the API listens',
  },
  AIRPROOF_API_PORT: {
    is: 'port',
    default: '8080',
    of: ['up', 'api', 'notifier', 'dashboard'],
    since: '0.1',
    what: 'its port; 0: any free one',
  },
  AIRPROOF_API_PROXIES: {
    is: 'int',
    default: '0',
    max: 10,
    of: ['api'],
    since: '0.2',
    what: 'proxies of your own that a request passes: that many entries of `X-Forwarded-For`, from the right, are trusted',
  },
  AIRPROOF_PUBLIC_URL: {
    is: 'url',
    protocols: web,
    otherwise: '`http://`, and host and port of the API',
    of: ['api', 'notifier', 'dashboard'],
    since: '0.1',
    what: 'the API’s public address, for links to proofs and in snippets',
  },
  AIRPROOF_QUOTA_FREE: {
    is: 'int',
    default: '100',
    min: 1,
    of: ['api'],
    since: '0.1',
    what: 'requests of a free account per UTC day; the same for every process',
  },
  AIRPROOF_QUOTA_PREMIUM: {
    is: 'int',
    default: '10000',
    min: 1,
    of: ['api'],
    since: '0.1',
    what: 'of a premium account',
  },
  AIRPROOF_BURST_PREMIUM: {
    is: 'int',
    default: '600',
    min: 1,
    of: ['api'],
    since: '0.1',
    what: 'requests of an account per minute, of either tier',
  },
  AIRPROOF_OPEN_PROOFS_PER_MINUTE: {
    is: 'int',
    default: '600',
    min: 1,
    of: ['api'],
    since: '0.1',
    what: 'requests for proofs and the network without a key, per address',
  },
  AIRPROOF_EXPLORER_URL: {
    is: 'url',
    protocols: web,
    of: ['api'],
    since: '0.1',
    what: 'an explorer of the chain, below which `/tx/<hash>` is',
  },
  AIRPROOF_CORRECTIONS: {
    is: 'text',
    of: ['api', 'commands'],
    since: '0.2',
    what: 'a JSON file with corrections of your own',
  },
  AIRPROOF_ALLOW_INSECURE_WEBHOOKS: {
    is: 'yes',
    of: ['api', 'notifier'],
    since: '0.1',
    what: 'webhooks may name http, any port and loopback addresses; for development',
  },
  AIRPROOF_CHAIN_NAME: {
    is: 'text',
    otherwise: '`chain` and its number',
    of: ['api'],
    since: '0.2',
    what: 'the name of the chain, for people',
  },
  AIRPROOF_DATA_LICENCE: {
    is: 'text',
    of: ['api', 'dashboard', 'archive'],
    since: '0.2',
    what: 'the licence of the data: an SPDX identifier such as `CC-BY-4.0`, or words',
  },
  AIRPROOF_ATTRIBUTION: {
    is: 'text',
    otherwise: 'the network’s name',
    of: ['api', 'dashboard', 'archive'],
    since: '0.2',
    what: 'whom those who use the data should name',
  },
  AIRPROOF_ARCHIVE_DIR: {
    is: 'text',
    otherwise: '`archive` in the data folder',
    of: ['archive', 'api', 'pipeline', 'commands'],
    since: '0.2',
    what: 'the folder of the archive',
  },
  AIRPROOF_ARCHIVE_OPEN: {
    is: 'yes',
    of: ['api'],
    since: '0.2',
    what: 'the archive can be read without a key',
  },
  AIRPROOF_ARCHIVE_URL: {
    is: 'url',
    protocols: web,
    otherwise: '`/archive/catalogue.json` of the API',
    of: ['api'],
    since: '0.2',
    what: 'where the data can be downloaded',
  },
  AIRPROOF_ARCHIVE_HASHES: {
    is: 'yes',
    of: ['archive'],
    since: '0.2',
    what: 'the archive also has each reading’s hash, which every reader can compute',
  },
  AIRPROOF_ARCHIVE_POLL: {
    is: 'duration',
    default: '1m',
    of: ['archive'],
    since: '0.2',
    what: 'how often it looks whether a day is over and final',
  },
  AIRPROOF_RAW_DAYS: {
    is: 'int',
    min: 0,
    max: 100_000,
    otherwise: 'for ever',
    of: ['archive'],
    since: '0.2',
    what: 'from 2: UTC days that a reading stays in the store once the archive has it',
  },
  AIRPROOF_BLOB_DAYS: {
    is: 'int',
    min: 0,
    max: 100_000,
    otherwise: 'for ever',
    of: ['archive'],
    since: '0.2',
    what: 'from 2: the same for the leaves of batches in BLOBS',
  },
  AIRPROOF_SIGNATURE_HEADER: {
    is: 'text',
    default: defaultSignatureHeader,
    of: ['notifier'],
    since: '0.1',
    what: 'the header that signs a delivery',
  },
  AIRPROOF_WEBHOOK_RATE: {
    is: 'int',
    default: '10',
    min: 1,
    max: 10_000,
    of: ['notifier'],
    since: '0.1',
    what: 'deliveries per second and endpoint',
  },
  AIRPROOF_WEBHOOK_WAITING: {
    is: 'int',
    default: '20000',
    min: 100,
    max: 1_000_000,
    of: ['notifier'],
    since: '0.1',
    what: 'most deliveries stored individually per endpoint; after that it is behind',
  },
  AIRPROOF_DASHBOARD_HOST: {
    is: 'text',
    default: '127.0.0.1',
    of: ['dashboard'],
    since: '0.1',
    what: 'where the dashboard listens',
  },
  AIRPROOF_DASHBOARD_PORT: {
    is: 'port',
    default: '8081',
    of: ['up', 'dashboard'],
    since: '0.1',
    what: 'its port; 0: any free one',
  },
  AIRPROOF_DASHBOARD_URL: {
    is: 'url',
    protocols: web,
    otherwise: '`http://`, and its host and port',
    of: ['dashboard'],
    since: '0.1',
    what: 'where people reach the dashboard: links in emails begin with it',
  },
  AIRPROOF_DASHBOARD_PROXIES: {
    is: 'int',
    default: '0',
    max: 10,
    of: ['dashboard'],
    since: '0.1',
    what: 'as AIRPROOF_API_PROXIES, for the dashboard',
  },
  AIRPROOF_DASHBOARD_PAGES: {
    is: 'text',
    otherwise: 'where `npm run build` puts them',
    of: ['dashboard'],
    since: '0.1',
    what: 'the folder of the built pages',
  },
  AIRPROOF_API_URL: {
    is: 'url',
    protocols: web,
    otherwise: '`http://127.0.0.1`, and AIRPROOF_API_PORT',
    of: ['dashboard'],
    since: '0.1',
    what: 'the API as the dashboard reaches it',
  },
  AIRPROOF_CONTACT: {
    is: 'text',
    of: ['dashboard'],
    since: '0.2',
    what: 'how people reach the operator: an email address or an https address',
  },
  AIRPROOF_MAP: {
    is: 'text',
    otherwise: '`map.pmtiles` in the data folder, else Lagos’s where AIRPROOF_MAP_BOX is there',
    of: ['dashboard'],
    since: '0.2',
    what: 'a PMTiles file with the ground of the map; `none`: no ground',
  },
  AIRPROOF_TILES_URL: {
    is: 'text',
    of: ['dashboard'],
    since: '0.2',
    what: 'tiles of others in place of the file: an address with `{z}/{x}/{y}`, or of a PMTiles file',
  },
  AIRPROOF_MAP_ATTRIBUTION: {
    is: 'text',
    otherwise: 'what the map’s file says',
    of: ['dashboard'],
    since: '0.2',
    what: 'what the licence of the map asks for',
  },
  SMTP_URL: {
    is: 'secret',
    otherwise: 'emails are files in `mail/` of the data folder',
    of: ['dashboard'],
    since: '0.1',
    what: 'the mail server, with user and password: `smtp://user:password@mail.example.org:587`',
  },
  AIRPROOF_ALLOW_PLAIN_SMTP: {
    is: 'yes',
    of: ['dashboard'],
    since: '0.2',
    what: 'emails may be sent to another machine without TLS',
  },
  MAIL_FROM: {
    is: 'text',
    default: 'airproof <airproof@localhost>',
    of: ['dashboard'],
    since: '0.1',
    what: 'the sender of emails',
  },
  AIRPROOF_PUSH_HOST: {
    is: 'text',
    default: '127.0.0.1',
    of: ['gate'],
    since: '0.1',
    what: 'where the gate takes readings over HTTP',
  },
  AIRPROOF_PUSH_PORT: {
    is: 'port',
    otherwise: '8082; under `up` that of the last start',
    of: ['up', 'gate'],
    since: '0.1',
    what: 'its port; 0: any free one',
  },
  AIRPROOF_PUSH_SPOOL_MB: {
    is: 'int',
    default: '64',
    min: 1,
    of: ['gate'],
    since: '0.1',
    what: 'MiB of readings that wait on the gate’s disk while NATS is away',
  },
  AIRPROOF_CALLOUT_SEED: {
    is: 'secret',
    of: ['gate'],
    since: '0.1',
    what: 'the seed of the account key that the NATS servers name as issuer; `airproof access` makes it',
  },
  NATS_CALLOUT_USER: {
    is: 'text',
    of: ['gate'],
    since: '0.1',
    what: 'the NATS user of the account where sign-ins are judged',
  },
  NATS_CALLOUT_PASSWORD: { is: 'secret', of: ['gate'], since: '0.1', what: 'its password' },
  NATS_SYSTEM_USER: {
    is: 'text',
    of: ['gate', 'commands'],
    since: '0.1',
    what: 'the NATS user of the system account, which lists connections and closes them',
  },
  NATS_SYSTEM_PASSWORD: {
    is: 'secret',
    of: ['gate', 'commands'],
    since: '0.1',
    what: 'its password',
  },
  AIRPROOF_TLS_CERT_FILE: {
    is: 'text',
    of: ['up', 'gate'],
    since: '0.1',
    what: 'a certificate with its chain (PEM): NATS, MQTT and the HTTP push use TLS; read again when it changes',
  },
  AIRPROOF_TLS_KEY_FILE: {
    is: 'text',
    of: ['up', 'gate'],
    since: '0.1',
    what: 'its private key; both are needed together',
  },
  AIRPROOF_LISTEN: {
    is: 'text',
    otherwise: 'this machine alone',
    of: ['up'],
    since: '0.1',
    what: 'where everything listens: `0.0.0.0` for every address',
  },
  AIRPROOF_NATS_PORT: {
    is: 'port',
    otherwise: 'that of the last start; a free one at the first',
    of: ['up'],
    since: '0.1',
    what: 'of the NATS server that `up` starts; 0: any free one',
  },
  AIRPROOF_MQTT_PORT: {
    is: 'port',
    otherwise: '1883, or that of the last start',
    of: ['up'],
    since: '0.1',
    what: 'where MQTT devices sign in; 0: any free one',
  },
  AIRPROOF_DEMO: {
    is: 'int',
    default: '0',
    max: 10_000,
    of: ['up'],
    since: '0.1',
    what: 'simulated sensors',
  },
  AIRPROOF_API_KEY: {
    is: 'secret',
    of: ['commands'],
    since: '0.1',
    what: 'a key of the API, for `audit --api` and `mirror`',
  },
} as const satisfies Readonly<Record<string, SettingRow>>

export type SettingName = keyof typeof settingsTable

/** `Object.entries` forgets the type of the names. */
export const settingRows: readonly (readonly [SettingName, SettingRow])[] =
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table's own keys
  Object.entries(settingsTable) as unknown as readonly (readonly [SettingName, SettingRow])[]
