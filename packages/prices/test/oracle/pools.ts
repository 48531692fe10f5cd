import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import type { ModelCharValue, Item } from './model-values.ts'

// Small pools, so that prices share names, values and dates, and queries match some of them.

const toWords = (text: string): string[] => text.trim().split(/ +|\n\s*/)

/** The same word in NFC, in NFD, with wide letters and in capitals. */
const toVariants = (text: string): string[] => [
  text.normalize('NFC'),
  text.normalize('NFD'),
  text.replace(/[a-z]/g, (letter) => String.fromCodePoint(letter.codePointAt(0)! + 0xfee0)),
  text.toUpperCase(),
]

export const OFFERINGS = ['o1', 'o1', 'o2', 'o2', 'o3', ...toVariants('Café 100'), 'a"b\\c', '日本 😀', 'o1 ']
export const GROUPS = ['g1', 'g1', 'g1', 'g2', 'G1']
export const SPECS = ['MRC', 'MRC', 'MRC', 'NRC', 'mrc']
export const CURRENCIES = ['USD', 'EUR', 'EUR', 'JPY']

const PLAIN_VALUES = toWords('1 2 9.5 10 -1 0 0.1 1e+21 1234567.25 2147483648 1e-7 9007199254740991')
/** The same values written differently, neighbours that are equal as doubles, and limits. */
const EXACT_VALUES = toWords(`
  1.0 1.10 1.1 1e0 10E-1 0.1e1 10e-1 100e-2 2.00 0.10 1E+1 -1.0 -0 0.0 0e5 1.2345 1234.50
  9007199254740992 9007199254740993 9007199254740993.0 9007199254740992.5 0.1000000000000000055
  1.000000000000000000000000000000001 0.9999999999999999999999999999999999 1234567890123456789012345678901234
  1e308 1.7976931348623157e308 -1e308 5e-324 1e-300 12345678901234567890e-10`)
export const VALUES = [...PLAIN_VALUES, ...EXACT_VALUES, ...EXACT_VALUES]
/** Values with too many digits, or too large. */
export const UNSTORABLE_VALUES = toWords(
  '1.0000000000000000000000000000000001 12345678901234567890123456789012345 1e309 -2e308 1e-400',
)

const DATES = toWords('2026-01-30 2026-01-31 2026-02-01 2026-02-02 2026-02-28 2026-03-01 2024-02-29 2090-12-31')
/** Times around the bounds of these dates, the same times in other zones, and their neighbours. */
const TIMES = toWords(`
  2026-01-31T00:00Z 2026-01-31T00:00+01:00 2026-01-31T01:00+01:00 2026-01-31T18:00+01:00 2026-01-31T17:00Z
  2026-01-31T17:01Z 2026-01-31T16:59:00Z 2026-01-31T23:59Z 2026-02-01T00:00Z 2026-01-31T23:59-00:01
  2026-02-01T00:00+14:00 2026-01-31T18:30-05:30 2026-02-01T00:01Z`)
export const MOMENTS = [...DATES, ...TIMES]
const NO_TIMES = toWords('2026-01-31T17:00 2026-01-31T24:00Z 2026-01-31T17:00:01Z 2026-01-31T17:00+1:00')
export const NO_MOMENTS = ['2026-02-29', '2026-13-01', '31.01.2026', '', ...NO_TIMES]

const RANGES = [
  { from: 1, to: 9 },
  { from: 10, to: 99 },
  { from: 10 },
  { to: 9 },
  { from: 5, to: 5 },
  { from: 1, to: 10 },
]

/** A characteristic, and its values. */
interface CharPool {
  readonly name: string
  readonly items: readonly Item[]
  /** True if lists of the items are usual. */
  readonly hasLists?: boolean
}

const NOTES = [...toVariants('größe'), 'x', 'y', '2026-01-31']
const SEATS = [1, 2, 5, 9, 10, 11, 99, 100, -1]
export const CHARS: readonly CharPool[] = [
  { name: 'term', items: toWords('12 24 36 12.0 120 -1') },
  { name: 'speed', items: ['10 Mbps', '100 Mbps', '2.5 Mbps', '10.0 Mbps', '25 Mbps'] },
  { name: 'seats', items: [...SEATS, ...RANGES], hasLists: true },
  { name: 'markets', items: toWords('DE AT CH ＤＥ de'), hasLists: true },
  { name: 'router', items: [true, false] },
  { name: 'start', items: DATES },
  { name: 'Größe'.normalize('NFC'), items: NOTES },
  { name: 'Größe'.normalize('NFD'), items: NOTES },
]
/** The values of all characteristics, and of none. */
export const ALL_ITEMS: readonly Item[] = [...CHARS.flatMap(({ items }) => items), '1 Gbps', 'abc']

export function drawCharValue(random: SeededRandom, pool: CharPool): ModelCharValue {
  const isList = random.percent(pool.hasLists ? 50 : 2)
  if (!isList) return random.pick(pool.items)
  return [...new Set(Array.from({ length: random.between(1, 4) }, () => random.pick(pool.items)))]
}

const toUuid = (number: number) =>
  `${number % 2 ? 'ffffffff' : '0000000a'}-0000-4000-8000-${String(number).padStart(12, '0')}`
const UUIDS = Array.from({ length: 150 }, (_, number) => toUuid(number))
const TEXT_IDS = [
  ...toWords('p1 P1 p10 p2 ä a\u0308 日本 😀 \uff5e a/b a%2Fb ? # import2 IMPORT " \\ \' , ; 1 01 1e0 null'),
  ...toWords(
    'ffffffff-ffff-ffff-ffff-ffffffffffff 00000000-ffff-ffff-ffff-ffffffffffff 0000000a0000400080000000000000aa',
  ),
  'a b',
  `{${toUuid(1)}}`,
  'x'.repeat(128),
  'é'.repeat(64),
]
const IDS = [...UUIDS, ...TEXT_IDS]
export const BAD_IDS = ['y'.repeat(129), 'é'.repeat(65), 'a\tb', '\u007f', '\u0085']

/** Draws an id. A UUID has letters of either case. */
export function drawId(random: SeededRandom): string {
  const id = random.pick(IDS)
  return UUIDS.includes(id) && random.percent(20) ? id.toUpperCase() : id
}
