import { createFigure, createTheirFigure, type Source } from './source-figures.ts'

const formatCount = (count: number, noun: string) => `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`

/** First table of the source: streams, interval (ms), memory (MB), CPU while connecting and sending (%). */
const CONNECTIONS = [
  [500, 50, 36, 15, 15],
  [1000, 40, 56, 17.5, 15],
  [3000, 20, 145, 25, 62],
  [3000, 10, 142, 40.6, 61],
  [3000, 5, 140, 59.9, 70.8],
  [3000, 3, 138, 98, 69],
  [6000, 4, 262, 80.5, 93.4],
  [8000, 4, 394, 73.7, 80.9],
  [10_000, 4, 485, 77.1, 100],
] as const

/** Second table of the source: streams, values, interval (ms), CPU sending (%), average query (ms), rejected. */
const VALUES = [
  [1000, 10, 100, 85.7, 163, 7],
  [1000, 10, 500, 76.5, 45, 0],
  [1000, 10, 200, 100, 374, 2],
  [500, 10, 200, 77, 39, 0],
  [100, 10, 100, 25, 19, 0],
  [100, 100, 50, 68.9, 35, 0],
  [100, 100, 30, 100, 250, 0],
  [10, 100, 20, 31, 12, 0],
  [10, 1000, 10, 61.7, 18, 0],
  [10, 1000, 5, 98.7, 47, 0],
  [1, 1000, 4, 58.2, 27, 0],
  [1, 1000, 2, 92.3, 33, 0],
  [1, 10_000, 2, 100, 400, 4636],
  [1, 8000, 4, 100, 415, 3217],
  [1, 5000, 5, 100, 399, 292],
  [1, 3000, 7, 100, 129, 0],
  [1, 2000, 7, 98, 58, 0],
] as const

/** Rows of the first table, as `sse/connections` measures them. */
export const connectionRows = CONNECTIONS.map(([streams, spacing, grown, connecting, sending]) => ({
  name: `${formatCount(streams, 'stream')}, one each ${spacing} ms`,
  streams,
  spacing,
  values: { grown, connecting, sending },
}))

/** Rows of the second table, as `sse/values` measures them. */
export const valueRows = VALUES.map(([streams, count, interval, sending, query, rejected]) => ({
  name: `${formatCount(streams, 'stream')}, ${formatCount(count, 'value')}, one each ${interval} ms`,
  streams,
  count,
  interval,
  values: { sending, query, rejected },
}))

const SENDING_FIGURE = createFigure('max CPU % sending', 'less', 'sending', { scale: 100 })

export const sseSource: Source = {
  service: 'sse',
  title: 'A comet broadcaster (Scala, Play 2.0 and Akka 2.0)',
  machine: 'a virtual machine with Ubuntu 11.10 (32 bits); the processor of its host is an Intel Core i5-2400, 3.1 GHz',
  limits: 'one processor core and 1 GB of memory.',
  groups: [
    {
      title: 'First table: streams opened at a constant rate, one value to all',
      table: 'sse/connections',
      load: {
        theirs: 'the row, with its own generator',
        ours: 'the row, {starts}',
      },
      figures: {
        grown: createFigure('MB', 'less', 'grown'),
        connecting: createFigure('max CPU % connecting', 'less', 'connecting', { scale: 100 }),
        sending: SENDING_FIGURE,
      },
      rows: connectionRows.map(({ name, values }) => ({ name, own: [name], values })),
    },
    {
      title: 'Second table: values at a constant rate',
      table: 'sse/values',
      load: {
        theirs: 'the row, with its own generator',
        ours: 'the row, {starts}; a value is rejected without a reply within 1 s',
      },
      figures: {
        sending: SENDING_FIGURE,
        query: createFigure('query ms', 'less', 'query'),
        rejected: createFigure('rejected', 'less', 'rejected'),
      },
      rows: valueRows.map(({ name, values }) => ({ name, own: [name], values })),
    },
    {
      title: 'Its summary: values/s that it sustains',
      load: { theirs: 'the tables above', ours: '' },
      figures: { perSecond: createTheirFigure('values/s') },
      rows: [
        {
          name: 'short peak',
          own: { notMeasured: 'the rows with one value each 2 ms are this rate' },
          values: { perSecond: 500 },
        },
        {
          name: 'normal work',
          own: { notMeasured: 'the rows with one value each 7 and 10 ms are this rate' },
          values: { perSecond: '100-150' },
        },
      ],
    },
  ],
}
