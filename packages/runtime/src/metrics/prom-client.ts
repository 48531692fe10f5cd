// The metric classes for services. They are not imported from 'prom-client' itself, which also loads a client for push
// gateways and with it node:http and TLS. These take 3 MB in a main thread, which needs neither.
import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import Histogram from 'prom-client/lib/histogram.js'
import Registry from 'prom-client/lib/registry.js'

export { Counter, Gauge, Histogram, Registry }
