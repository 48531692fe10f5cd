import type { RowMetrics } from '../row.ts'
import { createFigure, createTheirFigure, type Source, type SourceFigure, type SourceRow } from './source-figures.ts'

// "roaring" of ours is next to the bitmaps of the source, and caches of 10 % are next to caches of 10 %.

const LOOKUP_FIGURES: Readonly<Record<string, SourceFigure>> = {
  ns: createFigure('ns', 'less', 'ns'),
  adds: createFigure('of it HTTP, ns', 'less', 'adds'),
  benefit: createTheirFigure('times less than the map'),
}

const createLookup = (name: string, own: string, values: RowMetrics): SourceRow => ({ name, own: [own], values })

const PERCENTILES = [50, 90, 95, 97, 98, 99, 99.999] as const

const PERCENTILE_FIGURES: Readonly<Record<string, SourceFigure>> = {
  perSecond: createFigure('requests/s', 'more', 'perSecond'),
  ...Object.fromEntries(PERCENTILES.map((name) => [`p${name}`, createFigure(`p${name} us`, 'less', `p${name}`)])),
  requests: createTheirFigure('requests'),
}

/** The duration that the source's numbers of requests and percentiles imply: those of wrk for 30 s. */
const RUN_S = 30

const createPercentileRow = (name: string, own: string, requests: number, ...times: readonly number[]): SourceRow => ({
  name,
  own: [own],
  values: {
    requests,
    perSecond: requests / RUN_S,
    ...Object.fromEntries(PERCENTILES.map((percentile, i) => [`p${percentile}`, times[i]!])),
  },
})

const MEGABYTES_HEAD = 'MB'
const PARTS_FIGURES = {
  megabytes: { head: MEGABYTES_HEAD, better: 'less', metrics: ['shared', 'own'] },
} as const satisfies Readonly<Record<string, SourceFigure>>

const MAP_PARTS = {
  notMeasured: 'our maps hold the conditions of each price themselves, so only the totals have the same content',
}

export const pricesSource: Source = {
  service: 'prices',
  title: 'Price index: one price by conditions, with bitmaps or maps (Go)',
  machine: 'Intel Core i7-8750H, 2.20 GHz, 6 cores (12 processors), Linux',
  limits:
    'two processors for the service, and two for the generator; a browser and other programs may run; no limit of memory.',
  groups: [
    {
      title: 'Timing (low level): one search',
      table: 'prices/source',
      load: {
        theirs: 'benchmarks of Go: one search again and again, of row 3,824 of 9,700 of its offering',
        ours: '{rounds}: row 3,824 of its offering; over HTTP random rows',
      },
      figures: LOOKUP_FIGURES,
      rows: [
        createLookup('FindPrice, bitmap', 'FindPrice, roaring', { ns: 8_466, benefit: 27 }),
        createLookup('FindPrice, map', 'FindPrice, map', { ns: 233_692 }),
        createLookup('FindPrice_MapOptimized, bitmap', 'FindPrice_MapOptimized_3824_of_9700, roaring', {
          ns: 8_466,
          benefit: 9,
        }),
        createLookup('FindPrice_MapOptimized, map', 'FindPrice_MapOptimized_3824_of_9700, map-first-match', {
          ns: 75_852,
        }),
        createLookup('FindPrice_BitmapAndMapOptimized, bitmap', 'FindPrice_BitmapAndMapOptimized, roaring-offering', {
          ns: 3_047,
          benefit: 25,
        }),
        createLookup('FindPrice_BitmapAndMapOptimized, map', 'FindPrice_MapOptimized_3824_of_9700, map-first-match', {
          ns: 75_852,
        }),
        createLookup('FindPrice_HTTPClientServer, bitmap', 'FindPrice_HTTPClientServer, roaring-offering', {
          ns: 75_890,
          adds: 77_020,
          benefit: 5.4,
        }),
        createLookup('FindPrice_HTTPClientServer, map', 'FindPrice_HTTPClientServer, map', {
          ns: 417_117,
          adds: 143_759,
        }),
      ],
    },
    {
      title: 'Timing (high level): percentiles over HTTP',
      table: 'prices/percentiles',
      load: {
        theirs: 'wrk, a closed loop; its rates and latencies imply 30 s, and the connections of each row',
        ours: 'a closed loop of 10 s, {starts}, one processor each for the service and the generator',
      },
      figures: PERCENTILE_FIGURES,
      rows: [
        createPercentileRow(
          'bitmap, 1 connection',
          'roaring-offering, 1 connection',
          785_931,
          34,
          45,
          52,
          62,
          76,
          97,
          7_170,
        ),
        createPercentileRow('map, 1 connection', 'map, 1 connection', 70_829, 395, 541, 647, 747, 848, 1_077, 9_466),
        createPercentileRow(
          'bitmap, 20 connections',
          'roaring-offering, 20 connections',
          2_138_513,
          270,
          550,
          635,
          707,
          781,
          951,
          20_000,
        ),
        createPercentileRow(
          'map, 20 connections',
          'map, 20 connections',
          176_831,
          3_299,
          6_668,
          7_694,
          8_354,
          8_968,
          10_087,
          21_471,
        ),
      ],
    },
    {
      title: 'Memory: totals',
      table: 'prices/memory',
      load: {
        theirs: '487,000 prices, 9,700 of each offering; the parts are added',
        ours: '487,200 prices, 9,744 of each offering, {starts}; the growth of the heap and of buffers after an import and searches',
      },
      figures: { megabytes: createFigure(MEGABYTES_HEAD, 'less', 'sum') },
      rows: [
        { name: 'total, bitmap', own: ['memory, roaring'], values: { megabytes: 90 } },
        { name: 'total, map', own: ['memory, map'], values: { megabytes: 180 } },
        {
          name: 'LRU of 10 %, bitmap',
          own: ['lru-level, roaring, cache of 10 %'],
          load: 'both hold 10 % of the prices in memory; ours also holds the ids of all',
          values: { megabytes: 12 },
        },
        {
          name: 'LRU of 100 %, bitmap',
          own: { notMeasured: 'with all prices in the cache our catalog is `memory`, the first row' },
          values: { megabytes: 90 },
        },
        {
          name: 'LRU, map',
          own: { notMeasured: 'the source has no such cache: its value is that of all prices in memory' },
          values: { megabytes: 180 },
        },
      ],
    },
    {
      title: 'Memory: parts',
      table: 'prices/storage',
      load: { theirs: 'all prices', ours: 'all prices; shared by all threads, and of one thread' },
      figures: PARTS_FIGURES,
      rows: [
        {
          name: 'price storage (all), bitmap',
          own: ['price storage', 'ids', 'row of an id (main alone)'],
          values: { megabytes: 87 },
        },
        { name: 'price storage (all), map', own: MAP_PARTS, values: { megabytes: 175 } },
        { name: 'price storage, bitmap', own: ['price storage'], values: { megabytes: 57 } },
        { name: 'price storage, map', own: MAP_PARTS, values: { megabytes: 153 } },
        { name: 'index to UUID map, bitmap', own: ['row of an id (main alone)'], values: { megabytes: 7.44 } },
        { name: 'index to UUID map, map', own: MAP_PARTS, values: { megabytes: 0 } },
        { name: 'index, bitmap', own: ['index roaring'], values: { megabytes: 2.67 } },
        { name: 'index, map', own: MAP_PARTS, values: { megabytes: 4.69 } },
        { name: 'UUIDs of prices, bitmap and map', own: ['ids'], values: { megabytes: 22 } },
        {
          name: 'LRU of 10 %: cached prices, bitmap',
          own: { notMeasured: 'only the total of such a cache is measured' },
          values: { megabytes: 9 },
        },
        {
          name: 'LRU of 100 %: cached prices, bitmap',
          own: { notMeasured: 'as price storage (all), bitmap' },
          values: { megabytes: 87 },
        },
      ],
    },
  ],
}
