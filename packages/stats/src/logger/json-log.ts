import { openLineSink, type LineSink, type LineSinkOptions } from '@influencer-stats/runtime/line-sink'

/** Fields of every JSON line. */
export const BASE_FIELDS = { service: 'stats' }

/** Opens a sink for JSON lines. A later line reports the number of lost ones. */
export const createJsonSink = (to: number, options: Omit<LineSinkOptions, 'formatLoss'> = {}): LineSink =>
  openLineSink(to, {
    ...options,
    formatLoss: (lost) =>
      JSON.stringify({ level: 40, time: Date.now(), ...BASE_FIELDS, lost, msg: 'lines not written' }),
  })
