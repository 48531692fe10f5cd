import { hasExited } from '@influencer-stats/runtime/async/has-exited'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ROOT } from './commands.ts'

const PROMETHEUS = process.env.PROMETHEUS ?? 'prometheus'
export const hasPrometheus = spawnSync(PROMETHEUS, ['--version']).status === 0

/** Targets of a service in `prometheus.yml`: `host:port`. */
type Targets = Readonly<Record<string, readonly string[]>>

export interface Prometheus {
  /** Evaluates a query. @returns the values */
  query(query: string): Promise<string[]>
  /** Returns the instances of which an alert fires. */
  findAlerts(name: string): Promise<string[]>
  /** Replaces the targets, and reloads the configuration. */
  reload(targets: Targets): void
}

/** The published configuration with these targets, and shorter intervals. */
function configure(targets: Targets): string {
  const text = readFileSync(`${ROOT}/deploy/prometheus/prometheus.yml`, 'utf8').replaceAll(': 15s', ': 1s')
  return text.replaceAll(
    /(job_name: (\w+)\n.*targets: )\[.*\](?= *\}\])/g,
    (_, before: string, name: string) => before + JSON.stringify(targets[name] ?? []),
  )
}

/** Starts Prometheus with the published configuration and alerts. It stops with the test. */
export async function startPrometheus(targets: Targets): Promise<Prometheus> {
  const folder = createTemporaryFolder()
  const port = await findFreePort()
  const file = join(folder, 'prometheus.yml')
  writeFileSync(file, configure(targets))
  const alerts = readFileSync(`${ROOT}/deploy/prometheus/alerts.yml`, 'utf8')
  writeFileSync(join(folder, 'alerts.yml'), alerts.replaceAll('for: 1m', 'for: 1s'))
  const where = [`--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=127.0.0.1:${port}`]
  const prometheus = spawn(PROMETHEUS, [`--config.file=${file}`, ...where, '--log.level=warn'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  prometheus.stderr.on('data', (text) => (said += text))
  onTestFinished(async () => {
    prometheus.kill('SIGTERM')
    if (!hasExited(prometheus)) await once(prometheus, 'exit')
  })
  const url = `http://127.0.0.1:${port}`
  await waitUntil(async () => {
    if (hasExited(prometheus)) throw new Error(said)
    return (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok
  })

  return {
    async query(query) {
      const reply = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query })}`)
      const { data, error } = (await reply.json()) as {
        data?: { result: { value: [number, string] }[] }
        error?: string
      }
      if (!data) throw new Error(`${query}: ${error}`)
      return data.result.map(({ value: [, value] }) => value)
    },
    async findAlerts(name) {
      const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
        data: { alerts: { state: string; labels: Record<string, string> }[] }
      }
      const found = data.alerts.filter(({ state, labels }) => state === 'firing' && labels.alertname === name)
      return found.map(({ labels }) => labels.instance!)
    },
    reload(next) {
      writeFileSync(file, configure(next))
      prometheus.kill('SIGHUP')
    },
  }
}
