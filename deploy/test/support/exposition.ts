/** A metric family in the Prometheus text format. */
export interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  /** Names of all labels of its samples. */
  readonly labels: ReadonlySet<string>
  readonly samples: readonly string[]
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$/
const LABEL = /([a-zA-Z_]\w*)="(?:[^"\\]|\\.)*"/g

/** Parses metrics. @throws Error at an invalid line */
export function readExposition(text: string): Family[] {
  const families: (Omit<Family, 'labels' | 'samples'> & { labels: Set<string>; samples: string[] })[] = []
  let help = ''
  for (const line of text.split('\n').filter(Boolean)) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? []
    if (word === 'HELP') help = rest
    else if (word === 'TYPE') families.push({ name, type: rest, help, labels: new Set(), samples: [] })
    else {
      const [, sample, labels = ''] = SAMPLE.exec(line) ?? []
      const family = families.at(-1)
      if (!sample || !family || !sample.startsWith(family.name)) throw new Error(`not a sample of its family: ${line}`)
      family.samples.push(sample)
      for (const [, label] of labels.matchAll(LABEL)) family.labels.add(label!)
    }
  }
  return families
}

const ABBREVIATIONS = new Set(['s', 'ms', 'us', 'ns', 'sec', 'b', 'kb', 'mb', 'gb', 'm', 'h', 'd'])
const WRONG_UNITS = /_(milliseconds|microseconds|minutes|hours|days|kilobytes|megabytes|kibibytes|bits)(_|$)/
const TYPES = /_(counter|gauge|histogram|summary)(_|$)/

/** Finds faults of a metric family. The texts are those of `promtool check metrics`. */
export function findFaults({ name, type, help, labels, samples }: Family): string[] {
  const isDistribution = type === 'histogram' || type === 'summary'
  const faults: [boolean, string][] = [
    [help === '', 'no help text'],
    [type === 'counter' && !name.endsWith('_total'), 'counter metrics should have "_total" suffix'],
    [type !== 'counter' && name.endsWith('_total'), 'non-counter metrics should not have "_total" suffix'],
    [
      !isDistribution && /_(bucket|count|sum)$/.test(name),
      'non-histogram and non-summary metrics have a reserved suffix',
    ],
    [type !== 'histogram' && labels.has('le'), 'non-histogram metrics should not have "le" label'],
    [type !== 'summary' && labels.has('quantile'), 'non-summary metrics should not have "quantile" label'],
    [/[A-Z:]/.test(name) || [...labels].some((label) => /[A-Z]/.test(label)), 'names should be in snake_case'],
    [name.split('_').some((word) => ABBREVIATIONS.has(word)), 'metric names should not contain abbreviated units'],
    [WRONG_UNITS.test(name), 'use base unit'],
    [TYPES.test(name), 'metric name should not include its type'],
    [isDistribution && samples.some((sample) => sample === name), 'a distribution has no sample of its own name'],
  ]
  return faults.filter(([isWrong]) => isWrong).map(([, words]) => `${name}: ${words}`)
}
