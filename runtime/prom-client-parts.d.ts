/** The types of prom-client are those of the whole package; these are the files of its parts. */
declare module 'prom-client/lib/counter.js' {
  export { Counter as default } from 'prom-client'
}
declare module 'prom-client/lib/gauge.js' {
  export { Gauge as default } from 'prom-client'
}
declare module 'prom-client/lib/histogram.js' {
  export { Histogram as default } from 'prom-client'
}
declare module 'prom-client/lib/registry.js' {
  export { Registry as default } from 'prom-client'
}
declare module 'prom-client/lib/metrics/*.js' {
  import type { Registry } from 'prom-client'

  const collect: (
    registry: Registry,
    config: { readonly eventLoopMonitoringPrecision: number },
  ) => void
  export default collect
}
