/** One sample of `/metrics`. */
export interface PrometheusSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const LINE_PATTERN = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)/
const LABEL_PATTERN = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** Reads the Prometheus text format. Lines that are not samples are ignored. */
export function readMetrics(text: string): PrometheusSample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE_PATTERN.exec(line) ?? []
    if (name === undefined) return []
    const read = Array.from(labels.matchAll(LABEL_PATTERN), ([, key, labelValue]) => [
      key!,
      labelValue!.replace(/\\(.)/g, '$1'),
    ])
    return [{ name, labels: Object.fromEntries(read), value: Number(value) }]
  })
}

/** Paths of monitoring requests, which are not part of the load of a service. */
const INTERNAL_PATHS = new Set(['/metrics', '/readyz', '/healthz'])

/** The sum of all samples with this name. Undefined if there is none. */
export function sumMetric(samples: readonly PrometheusSample[], name: string): number | undefined {
  const found = samples.filter((sample) => sample.name === name)
  return found.length > 0 ? found.reduce((sum, { value }) => sum + value, 0) : undefined
}

/**
 * The number of requests that ended between two readings of a histogram, and a quantile of their duration (s).
 * @param share the quantile, such as 0.99
 */
export function compareHistograms(
  before: readonly PrometheusSample[],
  after: readonly PrometheusSample[],
  histogram: string,
  share: number,
) {
  const buckets = (samples: readonly PrometheusSample[]) => {
    const sums = new Map<number, number>()
    for (const { name, labels, value } of samples) {
      if (name !== `${histogram}_bucket` || INTERNAL_PATHS.has(labels.route!)) continue
      const edge = labels.le === '+Inf' ? Infinity : Number(labels.le)
      sums.set(edge, (sums.get(edge) ?? 0) + value)
    }
    return sums
  }
  const old = buckets(before)
  const increases = [...buckets(after)].map(([edge, value]) => [edge, value - (old.get(edge) ?? 0)] as const)
  const sorted = increases.sort(([a], [b]) => a - b)
  const total = sorted.at(-1)?.[1] ?? 0
  if (total <= 0) return { total: 0, quantile: undefined }
  let [low, under] = [0, 0]
  for (const [edge, value] of sorted) {
    if (value >= share * total) {
      if (edge === Infinity) return { total, quantile: low }
      return { total, quantile: low + ((share * total - under) / (value - under)) * (edge - low) }
    }
    ;[low, under] = [edge, value]
  }
  return { total, quantile: low }
}
