/** Grafana's JSON of the dashboards, from the rows of `panels.ts` and `air-panels.ts`. */
import { type AirPanel, airPanels, variables } from './air-panels.ts'
import { type Board, boards, type Panel } from './panels.ts'

/** The uids under which `grafana/provisioning/datasources` provides them. */
const sources = {
  prometheus: { type: 'prometheus', uid: 'airproof-prometheus' },
  influx_air: { type: 'influxdb', uid: 'airproof-influx-air' },
  influx_air_1h: { type: 'influxdb', uid: 'airproof-influx-air_1h' },
  sqlite: { type: 'frser-sqlite-datasource', uid: 'airproof-sqlite' },
} as const
type Source = (typeof sources)[keyof typeof sources]
export type AirStore = 'influxdb' | 'sqlite'

type Drawn = {
  readonly type: 'timeseries' | 'stat' | 'table'
  readonly title: string
  readonly description: string
  readonly unit?: string | undefined
  readonly bad?: readonly [number, number?] | undefined
  readonly bars?: boolean
  readonly datasource: Source
  readonly targets: readonly object[]
}

const thresholdsOf = ([orange, red]: readonly [number, number?]) => ({
  mode: 'absolute',
  steps: [
    { color: 'green', value: null },
    { color: 'orange', value: orange },
    ...(red === undefined ? [] : [{ color: 'red', value: red }]),
  ],
})

const draw = ({ type, unit, bad, bars = false, ...panel }: Drawn) => ({
  type,
  ...panel,
  fieldConfig: {
    defaults: {
      ...(unit === undefined ? {} : { unit }),
      min: unit === 'celsius' ? undefined : 0,
      color: { mode: type === 'stat' ? 'thresholds' : 'palette-classic' },
      thresholds: thresholdsOf(bad ?? [Number.MAX_SAFE_INTEGER]),
      ...(type !== 'timeseries'
        ? {}
        : {
            custom: {
              drawStyle: bars ? 'bars' : 'line',
              fillOpacity: bars ? 60 : 10,
              showPoints: 'never',
              thresholdsStyle: { mode: bad === undefined ? 'off' : 'dashed' },
            },
          }),
    },
    overrides: [],
  },
  options:
    type === 'timeseries'
      ? { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } }
      : {},
})

type Placed = { readonly width: number; readonly height: number }
const sizeOf = ({ type }: Pick<Drawn, 'type'>): Placed =>
  ({
    stat: { width: 6, height: 4 },
    timeseries: { width: 12, height: 8 },
    table: { width: 24, height: 8 },
  })[type]

/** Row by row, in their order. */
function placed(panels: readonly ReturnType<typeof draw>[]) {
  let [x, y, rowHeight] = [0, 0, 0]
  return panels.map((panel, place) => {
    const { width, height } = sizeOf(panel)
    if (x + width > 24) {
      y += rowHeight
      x = 0
      rowHeight = 0
    }
    const gridPos = { x, y, w: width, h: height }
    x += width
    rowHeight = Math.max(rowHeight, height)
    return { id: place + 1, gridPos, ...panel }
  })
}

const operatorPanel = ({ title, description, unit, isStat, bad, shows }: Panel) =>
  draw({
    type: isStat ? 'stat' : 'timeseries',
    title,
    description,
    unit,
    bad,
    datasource: sources.prometheus,
    targets: Object.entries(shows).map(([expr, legendFormat], place) => ({
      refId: String.fromCharCode(65 + place),
      datasource: sources.prometheus,
      expr,
      legendFormat,
    })),
  })

function airPanel(
  { title, description, unit, as, bad, influx, sqlite }: AirPanel,
  store: AirStore,
) {
  const isTable = as === 'table'
  const datasource = store === 'sqlite' ? sources.sqlite : sources[`influx_${influx.bucket}`]
  const target =
    store === 'sqlite'
      ? {
          queryText: sqlite,
          rawQueryText: sqlite,
          queryType: isTable ? 'table' : 'time series',
          timeColumns: ['time'],
        }
      : {
          rawQuery: true,
          query: influx.query,
          resultFormat: isTable ? 'table' : 'time_series',
          alias: '$tag_area$tag_sensor_id',
        }
  return draw({
    type: isTable ? 'table' : 'timeseries',
    title,
    description,
    unit,
    bad,
    bars: as === 'bars',
    datasource,
    targets: [{ refId: 'A', datasource, ...target }],
  })
}

const chooser = (store: AirStore) =>
  Object.entries(variables).map(([name, { label, influx, sqlite }]) => ({
    name,
    label,
    type: 'query',
    datasource: store === 'sqlite' ? sources.sqlite : sources[`influx_${influx.bucket}`],
    query: store === 'sqlite' ? sqlite : influx.query,
    refresh: 1,
    multi: name === 'area',
    current: {},
  }))

type Page = {
  readonly uid: string
  readonly title: string
  readonly description: string
  readonly from: string
  readonly variables: readonly object[]
  readonly panels: readonly ReturnType<typeof draw>[]
}

const page = ({ uid, title, description, from, variables: list, panels }: Page): string =>
  `${JSON.stringify(
    {
      uid,
      title,
      description,
      tags: ['airproof'],
      schemaVersion: 39,
      editable: false,
      timezone: 'browser',
      refresh: from === 'now-6h' ? '30s' : '5m',
      time: { from, to: 'now' },
      templating: { list },
      panels: placed(panels),
    },
    null,
    1,
  )}\n`

const operatorPage = ({ file, title, description, panels }: Board): string =>
  page({
    uid: `airproof-${file}`,
    title,
    description,
    from: 'now-6h',
    variables: [],
    panels: panels.map(operatorPanel),
  })

const airPage = (store: AirStore): string =>
  page({
    uid: `airproof-air-${store}`,
    title: `Air of the city (${store === 'sqlite' ? 'SQLite' : 'InfluxDB'})`,
    description:
      'For citizens and analysts: areas by hour and day, and one sensor. docs/analysts.md says what each number is',
    from: 'now-7d',
    variables: chooser(store),
    panels: airPanels.map((panel) => airPanel(panel, store)),
  })

/** Each file with its text. */
export const dashboards = (): readonly (readonly [file: string, text: string])[] => [
  ...boards.map((board) => [fileOf(board.file), operatorPage(board)] as const),
  ...(['influxdb', 'sqlite'] as const).map(
    (store) => [fileOf(`air-${store}`, store), airPage(store)] as const,
  ),
]

/** In a folder for each store of Grafana's own sources: a panel without its source shows an error. */
const fileOf = (name: string, folder = 'operator'): string =>
  `observe/grafana/dashboards/${folder}/${name}.json`
