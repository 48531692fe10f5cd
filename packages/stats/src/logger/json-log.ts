import { openLineSink, type LineSink, type LineSinkOptions } from '@influencer-stats/runtime/line-sink'

/** What every JSON line says. */
export const BASE_FIELDS = { service: 'stats' }

/** For JSON lines; what could not be written is told in one of them. */
export const createJsonSink = (to: number, options: Omit<LineSinkOptions, 'formatLoss'> = {}): LineSink =>
  openLineSink(to, {
    ...options,
    formatLoss: (lost) =>
      JSON.stringify({ level: 40, time: Date.now(), ...BASE_FIELDS, lost, msg: 'lines not written' }),
  })
