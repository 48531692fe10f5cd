// Modules of prom-client that are loaded separately. Its own types describe them only under the name of the whole
// package.

declare module 'prom-client/lib/cluster.js' {
  export { AggregatorRegistry as default } from 'prom-client'
}

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
