import { createSink, type Sink, type SinkOptions } from '@influencer-stats/runtime/sink'

/** What every JSON line says. */
export const BASE = { service: 'stats' }

/** For JSON lines; what could not be written is told in one of them. */
export const createJsonSink = (to: number, options: Omit<SinkOptions, 'tell'> = {}): Sink =>
  createSink(to, {
    ...options,
    tell: (lost) => JSON.stringify({ level: 40, time: Date.now(), ...BASE, lost, msg: 'lines not written' }),
  })
