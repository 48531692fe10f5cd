import type { RowMetrics } from '../row.ts'
import { createFigure, createTheirFigure, type Source, type SourceFigure, type SourceRow } from './source-figures.ts'

const RUN_FIGURES: Readonly<Record<string, SourceFigure>> = {
  replies: createFigure('replies/s', 'more', 'replies'),
  p50: createFigure('p50 ms', 'less', 'p50'),
  p90: createFigure('p90 ms', 'less', 'p90'),
  p99: createFigure('p99 ms', 'less', 'p99'),
  p999: createFigure('p99.9 ms', 'less', 'p999'),
  max: createFigure('max ms', 'less', 'max'),
  share: createFigure('CPU %', 'less', 'share', { scale: 100 }),
  p75: createTheirFigure('p75 ms'),
  p9999: createTheirFigure('p99.99 ms'),
  mean: createTheirFigure('mean ms'),
  deviation: createTheirFigure('deviation ms'),
  requests: createTheirFigure('requests'),
}

type RunValues = readonly [
  replies: number,
  p50: number,
  p75: number,
  p90: number,
  p99: number,
  p999: number,
  p9999: number,
  max: number,
  mean: number,
  deviation: number,
  requests: number,
]

const toValues = (values: RunValues, share?: string): RowMetrics => {
  const [replies, p50, p75, p90, p99, p999, p9999, max, mean, deviation, requests] = values
  const all = { replies, p50, p75, p90, p99, p999, p9999, max, mean, deviation, requests }
  return share === undefined ? all : { ...all, share }
}

/** Runs of wrk2 of the source. */
const RUNS = {
  putEmpty: toValues([8_999.84, 3.38, 7.68, 13.61, 24, 26.58, 26.85, 26.9, 5.343, 5.397, 89_995], '90-100'),
  putFull: toValues(
    [3_918.72, 28.5, 132.22, 287.23, 405.25, 419.33, 422.91, 423.42, 87.19, 115.099, 39_193],
    '150-170',
  ),
  get200: toValues([199.81, 14.07, 21.76, 31.97, 47.74, 53.28, 54.59, 54.59, 16.531, 10.576, 1_999]),
  get300: toValues([218.52, 1_350, 2_120, 2_550, 2_710, 2_720, 2_720, 2_720, 1_429.381, 787.239, 2_186]),
}

const LARGER_THAN_MEMORY = 'theirs larger than the heap of 128 MB; ours with all pages cached'

/** Highest rates that the source calls stable. Its ranges are compared by their upper ends. */
const createStableRows = (isEmptyMeasured: boolean): SourceRow[] => [
  ...(isEmptyMeasured
    ? [{ name: 'PUT, empty base', own: ['PUT, empty base, 1 connection'], values: { rate: 10_000, from: 9_000 } }]
    : []),
  { name: 'PUT, full base', own: ['PUT, full base, 1 connection'], values: { rate: 4_000, from: 3_500 } },
  { name: 'GET, full base', own: ['GET, full base, 1 connection'], values: { rate: 200 } },
]

const STABLE_FIGURES = { rate: createFigure('stable/s', 'more', 'rate'), from: createTheirFigure('at least, stable/s') }

export const kvSource: Source = {
  service: 'kv',
  title: 'A key-value service: load and profiles with wrk2 (Java, one-nio)',
  machine: 'not published; the disk is not named',
  limits: 'a heap of 128 MB (-Xmx).',
  groups: [
    {
      title: 'Runs at a constant rate',
      table: 'kv/paced',
      load: {
        theirs: '1 connection, wrk2 for 10 s, an open loop, values of 100-200 bytes',
        ours: '1 connection, {rounds}, an open loop at the same rate, values of 100-200 bytes',
      },
      figures: RUN_FIGURES,
      rows: [
        {
          name: '9,000 PUT/s, empty base',
          own: ['9,000 PUT, empty base, 1 connection'],
          values: RUNS.putEmpty,
        },
        {
          name: '4,000 PUT/s, full base',
          own: ['4,000 PUT, full base, 1 connection'],
          load: LARGER_THAN_MEMORY,
          values: RUNS.putFull,
        },
        {
          name: '200 GET/s, full base',
          own: ['200 GET, full base, 1 connection'],
          load: LARGER_THAN_MEMORY,
          values: RUNS.get200,
        },
        {
          name: '300 GET/s, full base',
          own: ['300 GET, full base, 1 connection'],
          load: LARGER_THAN_MEMORY,
          values: RUNS.get300,
        },
      ],
    },
    {
      title: 'Highest stable rates, base in memory',
      table: 'kv/rates',
      load: {
        theirs: '1 connection, wrk2 for 10 s, a full base larger than the heap of 128 MB',
        ours: '1 connection, {rounds} for each tried rate, all pages cached',
      },
      figures: STABLE_FIGURES,
      rows: createStableRows(true),
    },
    {
      title: 'Highest stable rates, base larger than memory',
      table: 'kv/scarce',
      load: {
        theirs:
          '1 connection, wrk2 for 10 s, a base larger than the heap of 128 MB; the pages of files are not limited',
        ours: '1 connection, {rounds} for each tried rate; the process and the pages of its files have 128 MB together',
      },
      figures: STABLE_FIGURES,
      rows: createStableRows(false),
    },
  ],
}
