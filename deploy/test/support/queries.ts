import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const DEPLOY = fileURLToPath(new URL('../..', import.meta.url))

export interface PanelQuery {
  readonly title: string
  readonly expr: string
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
}

/** The queries of all panels of the Grafana dashboard. */
export function readPanelQueries(): PanelQuery[] {
  const { panels }: Dashboard = JSON.parse(readFileSync(`${DEPLOY}/grafana/dashboard.json`, 'utf8'))
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
}

/** The conditions of all alerts. */
export function readAlertQueries(): string[] {
  const rules = readFileSync(`${DEPLOY}/prometheus/alerts.yml`, 'utf8')
  return Array.from(rules.matchAll(/expr: (\|\n(?: {10}.*\n)+|.*\n)/g), ([, expr]) => expr!)
}

const WORD = /[a-z_][a-z0-9_]*/g
// Parts of a query that are not names of metrics or labels.
const LANGUAGE = /"[^"]*"|\{[^}]*\}|by \([^)]*\)|\$__\w+|\[[^\]]*\]/g
const FUNCTIONS = new Set(
  'sum by rate increase histogram_quantile changes max_over_time time le or and unless'.split(' '),
)
const NAME_PATTERN = /__name__=~"([^"]+)"/g

/** The names that a pattern such as `a_x|(b|c)_y` matches. */
function expandPattern(pattern: string): string[] {
  const [whole, before = '', choices = '', after = ''] = /^([^()]*)\(([^()]*)\)([^()]*)$/.exec(pattern) ?? []
  return whole ? choices.split('|').map((choice) => before + choice + after) : pattern.split('|')
}

/** The metrics in a query. */
export function findMetricNames(query: string): string[] {
  const patterns = Array.from(query.matchAll(NAME_PATTERN), ([, pattern]) => expandPattern(pattern!)).flat()
  const words = Array.from(query.replaceAll(LANGUAGE, ' ').matchAll(WORD), ([word]) => word)
  return [...patterns, ...words.filter((word) => !FUNCTIONS.has(word))]
}

const SERVICE_METRIC = /^(dashboard|kv|prices|sse|stats)_(.+)$/

/**
 * Finds metrics that no panel and no alert uses, although one of them uses the metric of the same name of another
 * service.
 */
export function findForgotten(families: readonly string[]): string[] {
  const used = new Set([...readPanelQueries().map(({ expr }) => expr), ...readAlertQueries()].flatMap(findMetricNames))
  const isUsed = (name: string) => ['', '_bucket', '_count', '_sum'].some((suffix) => used.has(name + suffix))
  const own = families.flatMap((name) => {
    const [, , rest] = SERVICE_METRIC.exec(name) ?? []
    return rest ? [{ name, rest }] : []
  })
  return [...Map.groupBy(own, ({ rest }) => rest).values()].flatMap((siblings) => {
    const names = siblings.map(({ name }) => name)
    return names.some(isUsed) ? names.filter((name) => !isUsed(name)) : []
  })
}
