import { parseArgs } from 'node:util'
import { ROOT } from './paths.ts'
import type { TimeWindow } from './graph/difference.ts'

export const DIFFERENCE_HELP = `pnpm flame difference OWN.cpuprofile BASE.cpuprofile --output FILE.html
                 flame graph of two CPU profiles of V8 (node --cpu-prof): widths are times per request of OWN,
                 colours are changes against BASE; prints the five functions that grew most

  --requests OWN,BASE       numbers of requests in the windows (1,1)
  --unit NAME               unit that is counted instead of requests
  --own-window FROM,TO      samples to count, in microseconds of the monotonic clock (all)
  --base-window FROM,TO
  --own-root FOLDER         folder of the checkout of OWN (this one)
  --base-root FOLDER        folder of the checkout of BASE (this one)
  --title TEXT              title of the page
`

/** One profile of `pnpm flame difference`. */
export interface DifferenceInput {
  readonly file: string
  readonly root: string
  readonly requests: number
  readonly window: TimeWindow | undefined
}

/** Options of `pnpm flame difference`. */
export interface DifferenceOptions {
  readonly own: DifferenceInput
  readonly base: DifferenceInput
  readonly output: string
  readonly unit: string
  readonly title: string
}

const options = {
  output: { type: 'string' },
  requests: { type: 'string', default: '1,1' },
  unit: { type: 'string', default: 'request' },
  'own-window': { type: 'string' },
  'base-window': { type: 'string' },
  'own-root': { type: 'string', default: ROOT },
  'base-root': { type: 'string', default: ROOT },
  title: { type: 'string', default: 'Difference of two CPU profiles' },
} as const

/** @throws Error if the text is not two numbers above 0 */
function parseTwo(flag: string, text: string): [number, number] {
  const [first, second, ...more] = text.split(',').map(Number)
  if (!(first! > 0 && second! > 0) || more.length > 0) throw new Error(`--${flag} is not two numbers above 0: ${text}`)
  return [first!, second!]
}

/** @throws Error if the window ends before it begins */
function parseWindow(flag: string, text: string | undefined): TimeWindow | undefined {
  if (text === undefined) return undefined
  const [from, to] = parseTwo(flag, text)
  if (from >= to) throw new Error(`--${flag} ends before it begins: ${text}`)
  return [from, to]
}

/** Parses the arguments after `difference`. @throws Error naming the invalid argument */
export function parseDifferenceArguments(argv: readonly string[]): DifferenceOptions {
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true })
  if (positionals.length !== 2) throw new Error('difference takes two files: OWN.cpuprofile BASE.cpuprofile')
  if (values.output === undefined) throw new Error('--output is missing: the file of the page')
  const { output, unit, title } = values
  const requests = parseTwo('requests', values.requests)
  const toInput = (side: 'own' | 'base', i: 0 | 1): DifferenceInput => ({
    file: positionals[i]!,
    root: values[`${side}-root`].replace(/\/?$/, '/'),
    requests: requests[i],
    window: parseWindow(`${side}-window`, values[`${side}-window`]),
  })
  return { own: toInput('own', 0), base: toInput('base', 1), output, unit, title }
}
