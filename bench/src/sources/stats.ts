import { createFigure, createTheirFigure, type Source, type SourceFigure } from './source-figures.ts'

/** Both latencies are of a closed loop. */
const REQUEST_FIGURES: Readonly<Record<string, SourceFigure>> = {
  perSecond: createFigure('requests/s', 'more', 'perSecond'),
  closedP50: createFigure('p50 us', 'less', 'closedP50'),
  closedP75: createFigure('p75 us', 'less', 'closedP75'),
  closedP90: createFigure('p90 us', 'less', 'closedP90'),
  closedP99: createFigure('p99 us', 'less', 'closedP99'),
  closedMax: createFigure('max us', 'less', 'closedMax'),
  mean: createTheirFigure('mean us'),
  deviation: createTheirFigure('deviation us'),
  requests: createTheirFigure('requests'),
  megabytes: createTheirFigure('MB read'),
  errors: createTheirFigure('errors'),
}

type RequestValues = readonly [
  perSecond: number,
  p50: number,
  p75: number,
  p90: number,
  p99: number,
  max: number,
  mean: number,
  deviation: number,
  requests: number,
  megabytes: number,
]

const toValues = (values: RequestValues, errors?: number) => {
  const [perSecond, closedP50, closedP75, closedP90, closedP99, closedMax, mean, deviation, requests, megabytes] =
    values
  const latencies = { closedP50, closedP75, closedP90, closedP99, closedMax }
  const all = { perSecond, ...latencies, mean, deviation, requests, megabytes }
  return errors === undefined ? all : { ...all, errors }
}

const CLOSED_LOOP_LOAD = {
  theirs: '16 connections, wrk for 30 s, a closed loop',
  ours: '16 connections, {rounds}; a closed loop',
}

/** Requests/s, latencies (us), requests and megabytes of the five versions of the source. */
const VERSIONS: Readonly<Record<string, RequestValues>> = {
  v1: [283.12, 56_030, 61_610, 66_890, 82_410, 128_510, 56_470, 9_050, 8_510, 1.54],
  v2: [2_986.26, 4_670, 5_470, 9_610, 62_530, 151_460, 6_940, 10_490, 89_757, 16.26],
  v3: [3_218.48, 4_550, 6_220, 8_250, 13_050, 26_400, 5_060, 2_440, 96_564, 17.5],
  v4: [31_081.81, 346, 439, 1_740, 62_860, 144_630, 2_870, 11_630, 933_303, 169.11],
  v5: [38_596.24, 314, 396, 485, 9_050, 17_530, 555.8, 1_380, 1_158_664, 181.22],
}

/** Share of the function that each flame graph of the source names (% of the CPU time). */
const FLAME_SHARES = [
  ['v1', 'DefaultLogger', 70.29],
  ['v2', 'fetchVideoListResponse', 19.92],
  ['v3', 'hammock/jvm/Interpreter', 54.98],
] as const

export const statsSource: Source = {
  service: 'stats',
  title: 'Influencer Stats: a stats API in five versions (Scala, Akka HTTP and http4s)',
  machine: 'not published',
  limits: 'none published. The JVM, the stand-in for YouTube and wrk share the machine.',
  groups: [
    {
      title: 'Reads of one collection of three videos',
      table: 'stats/read',
      load: CLOSED_LOOP_LOAD,
      figures: REQUEST_FIGURES,
      rows: Object.entries(VERSIONS).map(([name, values]) => ({ name, own: [name], values: toValues(values) })),
    },
    {
      title: 'An empty collection, and the stand-in for YouTube',
      table: 'stats/source',
      load: {
        theirs: 'wrk for 30 s, a closed loop',
        ours: '{rounds}; a closed loop',
      },
      figures: REQUEST_FIGURES,
      rows: [
        {
          name: 'v1, empty collection',
          own: ['v1, empty collection'],
          load: '1 connection',
          values: toValues([5_804.37, 155, 164, 196, 21_810, 47_600, 682.73, 3_350, 174_201, 29.41]),
        },
        {
          name: 'the stand-in',
          own: ['the stand-in'],
          load: '256 connections (theirs: 2 threads of wrk)',
          values: toValues([21_634.72, 11_720, 11_980, 12_360, 23_590, 44_670, 11_860, 2_100, 649_268, 486.65], 124),
        },
      ],
    },
    {
      title: 'The first version with the real YouTube',
      table: 'stats/far',
      load: {
        theirs: '16 connections, wrk for 30 s, the API of YouTube over the internet',
        ours: '16 connections, {rounds}, a stand-in that delays each reply by 120 ms. The real YouTube is not measured: it needs a key, and its quota ends such a load',
      },
      figures: REQUEST_FIGURES,
      rows: [
        {
          name: 'v1, real YouTube',
          own: ['v1, 120 ms upstream'],
          values: toValues([41.25, 362_830, 419_280, 579_630, 1_090_000, 1_240_000, 393_600, 173_800, 1_239, 0.214], 1),
        },
      ],
    },
    {
      title: 'CPU time by function, from the flame graphs',
      load: { theirs: '16 connections, async-profiler for 10 s', ours: 'the graphs of `pnpm flame`' },
      figures: { share: createTheirFigure('% of CPU time') },
      rows: FLAME_SHARES.map(([version, name, share]) => ({
        name: `${version}, ${name}`,
        own: {
          notMeasured: `functions of another program; our shares are in [flame](../flame/README.md#${version}-read)`,
        },
        values: { share },
      })),
    },
  ],
}
