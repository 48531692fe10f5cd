import { readMarkdown } from './prose.ts'

/**
 * Matches a number with a unit in which measurements are stated: of time, rate, decimal size, percentage or ratio. Sizes
 * of buffers and limits have binary units (KiB, MiB), which are not measurements.
 */
const MEASURED_NUMBER =
  /(?<![\w.,:-])~?(?:\d[\d,.]*(?:-| to ))?\d[\d,.]*(?<!\.)(?:\s?%|\s?[KMG]B\b|\s?(?:[mun]s|us)\b|(?:\s[a-z]+)?\/s\b|x\b|\stimes\b(?! (?:a|per)\b))/gu

/** Words directly before a number that state a bound: the number is a limit or a setting. */
const BOUND =
  /\b(?:at (?:most|least)|up to|more than|less than|longer than|over|under|above|below|beyond|exceeds?|within|every|each|by default)(?: about)?\s$/u

export interface MeasuredNumber {
  /** Line of the block that contains it, from 1. */
  readonly line: number
  readonly text: string
}

/** Removes the parts that publishing writes: generated sections, and numbers with a mark. */
const removeGenerated = (source: string): string =>
  source
    .replaceAll(/<!-- (bench:\S+) -->[\s\S]*?<!-- \/\1 -->/gu, (section) => section.replaceAll(/[^\n]/gu, ''))
    .replaceAll(/<!--= [\s\S]*?<!--\/-->/gu, 'mark')

/**
 * Lists the numbers in the prose of a Markdown document that state a measurement and have no mark with their result. A
 * number in code, in a table, or after a word of a bound is a setting or a limit.
 */
export const findMeasuredNumbers = (source: string): MeasuredNumber[] =>
  readMarkdown(removeGenerated(source))
    .filter(({ isTable }) => !isTable)
    .flatMap(({ line, text }) => {
      const prose = text.replaceAll(/`[^`]*`/gu, '`code`').replaceAll(/\]\([^)]*\)/gu, ']')
      return [...prose.matchAll(MEASURED_NUMBER)]
        .filter(({ index }) => !BOUND.test(prose.slice(0, index)))
        .map(({ index, 0: number }) => ({
          line,
          text: `${prose.slice(Math.max(0, index - 40), index)}[${number}]${prose.slice(index + number.length, index + number.length + 40)}`,
        }))
    })
